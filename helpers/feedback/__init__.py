"""How an answer is judged: by what it does on inputs chosen to tell, and by which known mistakes would do the same."""
