"""What each lesson asks: its exercises with their cases and mistakes, and its predictions."""
