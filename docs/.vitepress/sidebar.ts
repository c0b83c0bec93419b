// The pages of the site in the order in which they are to be read, with the titles that they have themselves.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface SidebarLink {
  readonly text: string;
  readonly link: string;
}

export interface SidebarGroup {
  readonly text: string;
  readonly collapsed?: boolean;
  readonly items: readonly SidebarLink[];
}

interface Group {
  readonly text: string;
  readonly folder: string;
  /** Pages that come first, in this order; all others of the folder follow in the order of the alphabet. */
  readonly first: readonly string[];
  readonly collapsed?: boolean;
}

const groups: readonly Group[] = [
  {
    text: 'Guides',
    folder: 'docs/guides',
    first: [
      'getting-started',
      'parameter-sweeps',
      'gnu-parallel',
      'workflows',
      'clusters',
      'sites',
      'lab-deployment',
      'data',
      'multiprocessor-tasks',
      'reservations',
      'trust',
      'web',
      'monitoring',
      'isolation',
      'troubleshooting',
      'upgrading',
    ],
  },
  { text: 'Reference', folder: 'docs/reference', first: ['cli', 'json', 'jdf', 'workflow-formats', 'configuration'] },
  { text: 'Internals', folder: 'docs/internals', first: ['core', 'protocols', 'scheduling', 'heuristics'] },
  { text: 'More pages', folder: 'docs', first: [] },
  { text: 'Decisions', folder: 'docs/adr', first: ['README'], collapsed: true },
  { text: 'Studies', folder: 'docs/studies', first: ['README'], collapsed: true },
];

const projectPages = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'GLOSSARY.md', 'SECURITY.md', 'CHANGELOG.md'];

/** The first heading of a page, without its marks. */
export function getTitle(markdown: string): string {
  return (/^# (.+)$/m.exec(markdown)?.[1] ?? 'Untitled').replaceAll(/[`*]/g, '');
}

function link(root: string, file: string): SidebarLink {
  return { text: getTitle(readFileSync(join(root, file), 'utf8')), link: `/${file.replace(/(?:README)?\.md$/, '')}` };
}

function listPages(root: string, { folder, first }: Group): string[] {
  if (!existsSync(join(root, folder))) return [];
  const names = readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -'.md'.length));
  const ordered = [
    ...first.filter((name) => names.includes(name)),
    ...names.sort().filter((name) => !first.includes(name)),
  ];
  return ordered.map((name) => `${folder}/${name}.md`);
}

/** @param root the folder of README.md and docs/. */
export function sidebarOf(root: string): SidebarGroup[] {
  const listed = groups.map((group) => ({
    text: group.text,
    ...(group.collapsed === undefined ? {} : { collapsed: group.collapsed }),
    items: listPages(root, group).map((file) => link(root, file)),
  }));
  const project = projectPages.filter((file) => existsSync(join(root, file))).map((file) => link(root, file));
  return [...listed, { text: 'Project', items: project }].filter(({ items }) => items.length > 0);
}
