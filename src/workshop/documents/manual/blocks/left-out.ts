import { attribute, classes, type Element } from "./bounded-tree.ts";

const NEVER = new Set(
  "script style noscript template nav aside svg math iframe object canvas audio video button select input textarea dialog form-control".split(
    " ",
  ),
);
const ROLES = new Set(["navigation", "banner", "contentinfo", "search", "complementary", "tablist", "menu", "dialog"]);
const CLASSES =
  /^(?:(?:side|top|left|right|doc)-?(?:bar|nav|menu)|nav(?:bar|igation)?|toc|table-of-contents|on-this-page|bread-?crumbs?|pagination|skip-link|site-(?:header|footer)|page-(?:footer|nav)|cookie-?(?:banner|consent)|copy-?(?:button|btn)|header-?link|hash-link|heading-?anchor|anchor-?(?:link)?|linenos?|line-?numbers?|gutter|sr-only|visually-hidden)$/i;

/** Parts of a page that are not what it says: navigation, decoration, controls and what is hidden. */
export function isLeftOut(element: Element, isInContent: boolean): boolean {
  const { tagName } = element;
  if (NEVER.has(tagName)) return true;
  // The header of an article has its title.
  if ((tagName === "header" || tagName === "footer") && !isInContent) return true;
  const role = attribute(element, "role");
  if (role !== undefined && ROLES.has(role)) return true;
  if (classes(element).some((name) => CLASSES.test(name))) return !isTabular(tagName) || isGutter(element);
  return isHidden(element, role);
}

/** Panels of tabs that are not in front are hidden, but they are content. */
function isHidden(element: Element, role: string | undefined): boolean {
  if (role === "tabpanel" || classes(element).some((name) => /tab-?(?:pane|panel|content)/i.test(name))) return false;
  if (attribute(element, "hidden") !== undefined || attribute(element, "aria-hidden") === "true") return true;
  return /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attribute(element, "style") ?? "");
}

function isTabular(tagName: string): boolean {
  return ["body", "main", "article", "table", "tbody", "tr", "td", "th", "pre", "code"].includes(tagName);
}

/** The column of line numbers beside code. */
export function isGutter(element: Element): boolean {
  return classes(element).some((name) => /^(?:linenos?|line-?numbers?|gutter|rouge-gutter)$/i.test(name));
}
