// Links of pages to what is no page of the site: sources, folders, examples. They lead to the repository, where its
// address is known, and are plain text elsewhere.
import { posix } from 'node:path';

/** The parts of a token of markdown-it that are used here. */
export interface MarkdownToken {
  type: string;
  tag: string;
  attrs: [string, string][] | null;
  readonly children: MarkdownToken[] | null;
}

export interface LinkSite {
  /** Address of the repository, such as https://git.example/mutirao; undefined where there is none. */
  readonly repository: string | undefined;
  /** Whether the site has this file, which is a page or an image. */
  has(path: string): boolean;
}

/** What a link on `page` becomes; undefined where nothing is to be linked. Anchors and addresses elsewhere stay. */
export function siteLink(page: string, href: string, site: LinkSite): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:|^#|^\//i.test(href)) return href;
  const [path = '', anchor] = href.split('#', 2);
  const file = posix.normalize(posix.join(posix.dirname(page), path));
  // A page is the index of its folder where it is called README.
  if (site.has(file)) return path.replace(/README\.md$/, 'index.md') + (anchor === undefined ? '' : `#${anchor}`);
  return site.repository === undefined ? undefined : `${site.repository}/tree/HEAD/${file}`;
}

/** Rewrites the links among the tokens of a page in place. */
export function rewriteLinks(page: string, tokens: readonly MarkdownToken[], site: LinkSite): void {
  let unlinked = false;
  for (const token of tokens) {
    const attribute = token.attrs?.find(([name]) => name === 'href');
    if (token.type === 'link_open' && attribute !== undefined) {
      const href = siteLink(page, attribute[1], site);
      unlinked = href === undefined;
      if (href !== undefined) attribute[1] = href;
    }
    if (unlinked && (token.type === 'link_open' || token.type === 'link_close')) {
      Object.assign(token, { type: token.type.replace('link', 'span'), tag: 'span', attrs: null });
    }
    if (token.children !== null) rewriteLinks(page, token.children, site);
  }
}
