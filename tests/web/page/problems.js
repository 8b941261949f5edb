// What keeps somebody from using a page: returned as a list of sentences, empty for a good page.
() => {
  const found = [];
  const isShown = (node) => node.checkVisibility({visibilityProperty: true, opacityProperty: true});
  if (document.documentElement.scrollWidth > innerWidth)
    found.push(`wider than the screen: ${document.documentElement.scrollWidth}`);
  if (document.querySelectorAll("main h1").length !== 1) found.push("not one h1");
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  for (const id of ids) if (ids.filter((each) => each === id).length > 1) found.push(`twice: #${id}`);
  for (const node of document.querySelectorAll("[aria-describedby], [aria-labelledby]")) {
    for (const id of `${node.getAttribute("aria-describedby") ?? ""} ${node.getAttribute("aria-labelledby") ?? ""}`.trim().split(/ +/)) {
      if (!document.getElementById(id)) found.push(`describes nothing: ${id}`);
    }
  }
  for (const node of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    if (![...(node.labels ?? [])].some((label) => label.textContent.trim()) && !node.getAttribute("aria-label")) found.push(`no label: ${node.outerHTML}`);
  }
  for (const node of document.querySelectorAll("button, a[href], summary")) {
    if (!node.textContent.trim() && !node.getAttribute("aria-label")) found.push(`no name: ${node.outerHTML}`);
    const box = node.getBoundingClientRect();
    if (isShown(node) && !node.closest(".skip") && (box.height < 24 || box.width < 24)) found.push(`too small: ${node.outerHTML}`);
  }
  const probe = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (color) => {
    probe.clearRect(0, 0, 1, 1);
    probe.fillStyle = color;
    probe.fillRect(0, 0, 1, 1);
    return [...probe.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((each) => each / 255).map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (node) => {
    for (let each = node; each; each = each.parentElement) {
      const color = rgba(getComputedStyle(each).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !isShown(node) || node.closest(".unseen, .skip, noscript, [disabled]")) continue;
    const [one, other] = [light(rgba(getComputedStyle(node).color)), light(behind(node))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < 4.5) found.push(`contrast ${contrast.toFixed(2)}: ${node.outerHTML.slice(0, 120)}`);
  }
  return [...new Set(found)];
}
