// Two things: buttons that copy a command (without them it can be selected by hand), and links to Airflow's own pages, which leave
// the frame that Airflow shows this page in: its sandbox forbids a frame to do it, so the page around it does.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}
for (const link of document.querySelectorAll("a[data-airflow]")) {
  link.addEventListener("click", (event) => {
    if (window.parent === window || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const outside = window.parent.document.createElement("a");
    outside.href = link.href;
    outside.click();
  });
}
