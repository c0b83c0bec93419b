// The site that scripts/docs-site makes of the documents. It runs in a copy of them, where README.md is at the root.
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { slug } from 'github-slugger';
import { rewriteLinks, type LinkSite, type MarkdownToken } from './repository-links.ts';
import { sidebarOf } from './sidebar.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const site: LinkSite = {
  repository: process.env['DOCS_REPOSITORY'],
  has: (path) => /\.(md|png|svg)$/.test(path) && existsSync(join(root, path)),
};
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
const start = ['docs/guides/getting-started', 'docs/cli'].find((page) => existsSync(join(root, `${page}.md`)));

interface MarkdownState {
  readonly tokens: MarkdownToken[];
  readonly env: { readonly path?: string; readonly realPath?: string };
}

interface MarkdownParser {
  readonly core: { readonly ruler: { push(name: string, rule: (state: MarkdownState) => void): void } };
}

export default {
  title: 'Mutirao',
  description: 'Grid middleware: a laptop, a few clusters and some lab PCs used as one machine.',
  lang: 'en',
  base: process.env['DOCS_BASE'] ?? '/',
  // As on GitHub, where README.md is what a folder shows.
  rewrites: (file: string): string => file.replace(/README\.md$/, 'index.md'),
  srcExclude: ['test/**'],
  head: [
    ['link', { rel: 'icon', href: 'data:,' }],
    ['style', {}, '.vp-doc pre { overflow-x: auto; }'],
  ],
  markdown: {
    languageAlias: { jdf: 'ini' },
    // The anchors of GitHub, which scripts/prose checks.
    anchor: { slugify: slug },
    config: (markdown: MarkdownParser): void => {
      markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
        const path = env.realPath ?? env.path;
        if (path !== undefined) rewriteLinks(relative(root, path), tokens, site);
      });
    },
  },
  themeConfig: {
    nav: [
      ...(start === undefined ? [] : [{ text: 'Get started', link: `/${start}` }]),
      { text: 'Architecture', link: '/ARCHITECTURE' },
      { text: `Version ${version}`, link: '/CHANGELOG' },
    ],
    sidebar: sidebarOf(root),
    outline: { level: [2, 3] },
    search: { provider: 'local' },
  },
};
