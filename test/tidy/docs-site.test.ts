// Proves that the site leads to every page once, and what becomes of its links.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { rewriteLinks, siteLink, type MarkdownToken } from '../../docs/.vitepress/repository-links.ts';
import { sidebarOf, getTitle } from '../../docs/.vitepress/sidebar.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

test('the sidebar leads to every page of docs, each once', (t) => {
  const links = sidebarOf(root).flatMap(({ items }) => items.map(({ link }) => link));
  const pages = readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
    .map((file) => `/docs/${file.replace(/(?:README)?\.md$/, '')}`);
  t.deepEqual(links.filter((link) => link.startsWith('/docs/')).sort(), pages.sort());
});

test('pages have the order of the sidebar, others of their folder follow, and a folder without pages is left out', (t) => {
  const folder = temporaryFolder(t);
  for (const file of [
    'docs/guides/abc.md',
    'docs/guides/workflows.md',
    'docs/guides/getting-started.md',
    'GLOSSARY.md',
  ]) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), `# About \`${file}\`\n`);
  }
  t.deepEqual(
    sidebarOf(folder).map(({ text, items }) => [text, items.map(({ link }) => link)]),
    [
      ['Guides', ['/docs/guides/getting-started', '/docs/guides/workflows', '/docs/guides/abc']],
      ['Project', ['/GLOSSARY']],
    ],
  );
  t.is(getTitle('\n# What `--json` prints\n\n# No\n'), 'What --json prints');
});

test('a link to a source leads to the repository, and is plain text where that has no address', (t) => {
  const pages = ['docs/a.md', 'docs/b.md', 'docs/adr/README.md'];
  const site = { repository: 'https://git.example/m', has: (path: string) => pages.includes(path) };
  t.is(siteLink('docs/a.md', '../proto/x.proto', site), 'https://git.example/m/tree/HEAD/proto/x.proto');
  t.is(siteLink('docs/a.md', '../proto', { ...site, repository: undefined }), undefined);
  t.is(siteLink('docs/a.md', 'b.md#there', site), 'b.md#there');
  t.is(siteLink('docs/a.md', 'adr/README.md', site), 'adr/index.md');
  t.is(siteLink('docs/a.md', '#here', site), '#here');
  t.is(siteLink('docs/a.md', 'https://example.org/', site), 'https://example.org/');
  const token = (type: string, href?: string): MarkdownToken => ({
    type,
    tag: 'a',
    attrs: href === undefined ? null : [['href', href]],
    children: null,
  });
  const children = [token('link_open', '../x'), token('link_close'), token('link_open', 'b.md'), token('link_close')];
  rewriteLinks('docs/a.md', [{ ...token('inline'), children }], { ...site, repository: undefined });
  t.deepEqual(
    children.map(({ type, tag }) => `${type} ${tag}`),
    ['span_open span', 'span_close span', 'link_open a', 'link_close a'],
  );
});
