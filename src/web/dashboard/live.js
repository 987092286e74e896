// Replaces what is shown when it has changed; without this script the page is as it was when it was asked for.
"use strict";
(() => {
  const main = document.querySelector("main[data-live]");
  if (!main || !window.EventSource) return;
  const told = document.getElementById("live");
  const tell = (words) => { if (told) told.textContent = words; };
  const source = new EventSource(main.dataset.live);
  source.onopen = () => tell("live");
  source.onerror = () => tell("connecting again …");
  source.addEventListener("gone", () => { source.close(); tell("ended: reload the page"); });
  source.onmessage = (event) => {
    const open = new Set([...main.querySelectorAll("details[open][id]")].map((one) => one.id));
    const focused = document.activeElement && document.activeElement.id;
    const scrolled = [...main.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
    main.innerHTML = event.data;
    for (const id of open) { const one = document.getElementById(id); if (one) one.open = true; }
    [...main.querySelectorAll(".scroll")].forEach((one, at) => { one.scrollLeft = scrolled[at] || 0; });
    if (focused) { const one = document.getElementById(focused); if (one) one.focus({ preventScroll: true }); }
  };
})();
