// Brings what is shown up to date when it has changed; without this script the page is as it was when it was asked for.
"use strict";
(() => {
  const main = document.querySelector("[data-live]");
  if (!main || !window.EventSource) return;
  const told = document.getElementById("live");
  const tell = (words) => { if (told) told.textContent = words; };
  const chosen = new WeakSet();
  let source = null;
  let ended = false;
  const AGAIN = 5000;

  // What the person folded or unfolded stays so; the rest is as the server has it.
  main.addEventListener("click", (event) => {
    const fold = event.target.closest("summary") && event.target.closest("details");
    if (fold) chosen.add(fold);
  });

  // A link that leads elsewhere is another link.
  const isSame = (old, fresh) => old && old.nodeName === fresh.nodeName && old.id === fresh.id
    && (old.nodeName !== "A" || old.getAttribute("href") === fresh.getAttribute("href"));

  const wear = (old, fresh) => {
    const stays = (name) => name === "open" && chosen.has(old);
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !stays(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) {
      if (old.getAttribute(name) !== value && !stays(name)) old.setAttribute(name, value);
    }
  };

  // Changes only what differs: the focus, what is selected and how far is scrolled stay.
  const become = (old, fresh) => {
    const ids = new Set([...fresh.children].map((one) => one.id));
    let at = old.firstChild;
    const next = () => { const gone = at; at = at.nextSibling; return gone; };
    for (const one of [...fresh.childNodes]) {
      while (at && at.id && !ids.has(at.id)) next().remove();
      const named = one.id ? document.getElementById(one.id) : null;
      const kept = isSame(named || at, one) && !(named && named.contains(old)) ? named || at : null;
      if (kept && kept === at) next(); else old.insertBefore(kept || one, at);
      if (!kept || kept.isEqualNode(one)) continue;
      if (kept.nodeType !== Node.ELEMENT_NODE) { kept.nodeValue = one.nodeValue; continue; }
      wear(kept, one);
      become(kept, one);
    }
    while (at) next().remove();
  };

  // How to find a link or button again that had to be made anew.
  const nameOf = (one) => one.id ? `#${CSS.escape(one.id)}`
    : ["href", "aria-label"].filter((name) => one.hasAttribute(name))
      .map((name) => `${one.localName}[${name}="${CSS.escape(one.getAttribute(name))}"]`)[0];

  const show = (content) => {
    const focused = main.contains(document.activeElement) ? document.activeElement : null;
    const name = focused && nameOf(focused);
    const fresh = document.createElement("template");
    fresh.innerHTML = content;
    become(main, fresh.content);
    if (!focused || document.activeElement === focused) return;
    const again = main.contains(focused) ? focused : name && main.querySelector(name);
    if (again) again.focus({ preventScroll: true });
  };

  const close = () => { if (source) source.close(); source = null; };
  const open = () => {
    if (source || ended) return;
    source = new EventSource(main.dataset.live);
    source.onopen = () => tell("live");
    // A browser gives up after an answer that is no stream, as from a service that is starting.
    source.onerror = () => {
      tell("connecting again …");
      if (source.readyState === EventSource.CLOSED) { close(); setTimeout(look, AGAIN); }
    };
    source.onmessage = (event) => show(event.data);
    source.addEventListener("gone", () => { ended = true; close(); tell("ended: reload the page"); });
  };

  // A browser has few connections to a host: pages that nobody sees hold none.
  const look = () => { if (document.hidden) { close(); tell("waiting until you look"); } else open(); };
  document.addEventListener("visibilitychange", look);
  look();
})();
