// From the file system a page may not read another: the results of a search are then titles without excerpts.
if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// Names for those who do not see the page: of the buttons that open parts of the list of pages, and of the search.
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll("details > summary")) {
    const page = summary.closest("li")?.querySelector("a")?.textContent.trim();
    if (!summary.textContent.trim() && page) summary.setAttribute("aria-label", `Pages under ${page}`);
  }
  // its name has to hold what is written on it, and to stay where that is hidden
  for (const button of document.querySelectorAll(".search-button-field")) {
    button.setAttribute("aria-label", button.textContent.replace(/\s+/g, " ").trim() || "Search");
  }
});
