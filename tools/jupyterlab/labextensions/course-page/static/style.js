// JupyterLab has no setting for the width of text, so this adds one rule to its page. It is what JupyterLab calls a
// prebuilt extension, written by hand: tools/lab.py says where it lies, and nothing needs to be installed.
(() => {
  const rule = ".jp-Notebook .jp-MarkdownCell .jp-MarkdownOutput { max-width: 50em; }";
  const style = () => {
    document.head.append(Object.assign(document.createElement("style"), { textContent: rule }));
    return {};
  };
  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB["course-page"] = { init: async () => {}, get: async () => style };
})();
