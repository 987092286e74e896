// Replaces what is shown when it has changed; without this script the page is as it was when it was asked for.
"use strict";
(() => {
  const main = document.querySelector("[data-live]");
  if (!main || !window.EventSource) return;
  const told = document.getElementById("live");
  const tell = (words) => { if (told) told.textContent = words; };
  const chosen = new Map();
  let source = null;
  let ended = false;

  // What the person folded or unfolded stays so; the rest is as the server has it.
  main.addEventListener("click", (event) => {
    const fold = event.target.closest("summary") && event.target.closest("details[id]");
    if (fold) chosen.set(fold.id, !fold.open);
  });

  // The same link or button of the new content: by its id, else by what it leads to.
  const nameOf = (one) => one.id ? `#${CSS.escape(one.id)}`
    : one.getAttribute("href") ? `${one.localName}[href="${CSS.escape(one.getAttribute("href"))}"]`
      : one.getAttribute("aria-label") ? `[aria-label="${CSS.escape(one.getAttribute("aria-label"))}"]`
        : one.localName === "summary" && one.parentElement.id ? `#${CSS.escape(one.parentElement.id)} > summary` : null;

  const show = (content) => {
    const focused = main.contains(document.activeElement) ? nameOf(document.activeElement) : null;
    const scrolled = [...main.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
    main.innerHTML = content;
    for (const [id, open] of chosen) { const one = document.getElementById(id); if (one) one.open = open; }
    [...main.querySelectorAll(".scroll")].forEach((one, at) => { one.scrollLeft = scrolled[at] || 0; });
    if (focused) { const one = main.querySelector(focused); if (one) one.focus({ preventScroll: true }); }
  };

  const close = () => { if (source) source.close(); source = null; };
  const open = () => {
    if (source || ended) return;
    source = new EventSource(main.dataset.live);
    source.onopen = () => tell("live");
    source.onerror = () => tell("connecting again …");
    source.onmessage = (event) => show(event.data);
    source.addEventListener("gone", () => { ended = true; close(); tell("ended: reload the page"); });
  };

  // A browser has few connections to a host: pages that nobody sees hold none.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { close(); tell("waiting until you look"); } else open();
  });
  if (!document.hidden) open();
})();
