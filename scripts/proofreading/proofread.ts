/**
 * Checks documents, comments, titles of tests and messages for long sentences, turns of phrase and forbidden terms, and all
 * Markdown links between our own files.
 *
 * Usage: node scripts/proofreading/proofread.ts [--all | --shrink | --count]
 * Prints what is not in known-findings.json; exit status 1 when that is not nothing. --all prints the known findings too.
 * --count prints the words of each page of docs/ and README.md; more than rules.json allows fail every other call.
 * --shrink writes known-findings.json as things are, and refuses when any rule has more findings than before.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compareFindings, countFindings, findGrowth, type KnownFindings } from './known-findings.ts';
import { findDeadLinks, findDeadMentions, findTags, type LinkTargets } from './links.ts';
import { readMarkdownPage } from './markdown-page.ts';
import { proofreader, readForbiddenTerms, readRules, type Finding, type Rules } from './rules.ts';
import { readSourceTexts, readTestTitles } from './source-texts.ts';
import { addVolumes, checkVolume, describeVolumes, measureText, type TextVolume } from './text-volume.ts';

const rules = readRules();
const root = fileURLToPath(new URL('../../', import.meta.url));
const knownPath = fileURLToPath(new URL('known-findings.json', import.meta.url));
const read = (file: string): string => readFileSync(root + file, 'utf8');

/** Tracked files, and new ones that are not ignored. */
function listFiles(patterns: readonly string[]): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...patterns];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  return [...new Set(listed.split('\n'))].filter((file) => file !== '' && existsSync(root + file)).sort();
}

function isGenerated(file: string, rules: Rules): boolean {
  return file.startsWith('docs/') && rules.generated.includes(file.split('/').at(-1) ?? '');
}

function isDocument(file: string, rules: Rules): boolean {
  return !isGenerated(file, rules) && !rules.unread.some((prefix) => file.startsWith(prefix));
}

/** The text of README.md and of each page of docs/. */
function measureDocuments(): Map<string, TextVolume> {
  const files = listFiles(['README.md', 'docs/*.md']).filter((file) => !file.includes('node_modules'));
  return new Map(files.map((file) => [file, measureText(read(file), isGenerated(file, rules))]));
}

function findAll(): Finding[] {
  const check = proofreader(rules, readForbiddenTerms(read('GLOSSARY.md')));
  const pages = new Map(listFiles(rules.documents).map((file) => [file, readMarkdownPage(file, read(file))]));
  const targets: LinkTargets = { pages, exists: (path) => existsSync(root + path) };
  const sources = listFiles(rules.sources).filter((file) => !rules.unreadSources.some((part) => file.includes(part)));
  const texts = listFiles(['*.ts', '*.tsx', '*.mjs', '*.md', '*.proto', 'scripts/*', 'CITATION.cff', '.ci', '.github']);
  return [
    ...[...pages.values()].flatMap((page) => [...findDeadLinks(page, targets), ...findTags(page)]),
    ...texts
      .filter((file) => !file.startsWith('test/tidy/'))
      .flatMap((file) => findDeadMentions(file, read(file), targets)),
    ...[...pages.values()].filter(({ file }) => isDocument(file, rules)).flatMap(({ prose }) => prose.flatMap(check)),
    ...sources.flatMap((file) => readSourceTexts(file, read(file)).flatMap(check)),
    ...listFiles(rules.tests).flatMap((file) => readTestTitles(file, read(file)).flatMap(check)),
  ];
}

const { values } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: false },
    count: { type: 'boolean', default: false },
  },
});
const known = existsSync(knownPath) ? (JSON.parse(readFileSync(knownPath, 'utf8')) as KnownFindings) : undefined;
const volumes = measureDocuments();
if (values.count) {
  for (const line of describeVolumes(volumes)) console.log(line);
  process.exit(0);
}
const findings = findAll();

function shrink(): string[] {
  const counts = countFindings(findings);
  // The list may be begun, and from then on only shrinks.
  const growth = known === undefined ? [] : findGrowth(counts, known);
  // A line for each file, so that changes of different files merge.
  const lines = Object.entries(counts).map(([file, ofFile]) => `${JSON.stringify(file)}: ${JSON.stringify(ofFile)}`);
  if (growth.length === 0) writeFileSync(knownPath, `{\n${lines.join(',\n')}\n}\n`);
  return growth.length === 0
    ? compareFindings(findings, counts)
    : [
        ...growth,
        'The list of known findings only shrinks: mend the new ones first.',
        ...compareFindings(findings, known ?? {}),
      ];
}

const report = [
  ...(values.shrink ? shrink() : compareFindings(findings, values.all ? {} : (known ?? {}))),
  ...checkVolume(addVolumes([...volumes.values()]), rules),
];
for (const line of report) console.log(line);
process.exitCode = report.length === 0 ? 0 : 1;
