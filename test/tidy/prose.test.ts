// Proves that the checks of scripts/prose find what they forbid, and that their list of known findings only shrinks.
import test from 'ava';
import { compareFindings, countFindings, findGrowth } from '../../scripts/proofreading/known-findings.ts';
import { findDeadLinks, findDeadMentions, findTags } from '../../scripts/proofreading/links.ts';
import { readMarkdownPage } from '../../scripts/proofreading/markdown-page.ts';
import {
  countWords,
  proofreader,
  readForbiddenTerms,
  readRules,
  type Finding,
  type TextKind,
} from '../../scripts/proofreading/rules.ts';
import { addVolumes, checkVolume, describeVolumes, measureText } from '../../scripts/proofreading/text-volume.ts';
import { extractTables } from '../../scripts/proofreading/markdown-tables.ts';
import { readSourceTexts, readTestTitles } from '../../scripts/proofreading/source-texts.ts';

const check = proofreader(readRules(), new Map([['slave', 'agent']]));

/** The rules that a text breaks. */
function rulesBroken(text: string, kind: TextKind): string[] {
  const lines = text.split('').map(() => 1);
  return check({ file: 'a', kind, text, lines, hasSentences: kind === 'documents' }).map(({ rule }) => rule);
}

test('each forbidden turn of phrase is found, and its plain form is not', (t) => {
  for (const [rule, forbidden, plain] of [
    ['anew', 'The task begins anew.', 'The task begins again.'],
    ['is to', 'The broker is to answer within 2 s.', 'The default is to answer within 2 s.'],
    ['is no', 'A provider is no server.', 'There is no server. It is no longer there, and is no later than planned.'],
    ['just so', 'Slurm is asked just so.', 'Slurm is asked in the same way.'],
    ['so many', 'It holds so many units.', 'It holds the number of units.'],
    ['so many', 'Not so much is free.', 'Less is free.'],
    ['beside', 'Files beside the sources.', 'Files next to the sources.'],
    ['what is there', 'It has the job done first, besides what is there.', 'It finishes the job first.'],
    ['what of it', 'It says what of it is left.', 'It says which part is left.'],
    ['who', 'A client who asks gets an answer.', 'A user who asks gets an answer.'],
    ['whom', 'Whether and by whom it is held.', 'Whether it is held, and the name of the holder.'],
    ['tell', 'The broker is told each machine.', 'The table tells you which option to use.'],
    ['of ours', 'A bug of ours ends the process.', 'A bug in Mutirao ends the process.'],
    ['no more', 'It is wanted no more.', 'It is no longer wanted, and costs no more than before.'],
    ['inverted', 'Only where a disk is full does it wait.', 'It waits only where a disk is full.'],
    ['term slave', 'A slave runs tasks.', 'An agent runs tasks.'],
  ] as const) {
    t.true(rulesBroken(forbidden, 'documents').includes(rule), forbidden);
    t.deepEqual(rulesBroken(plain, 'documents'), [], plain);
  }
});

test('"want" is forbidden in messages, and not in documents', (t) => {
  t.deepEqual(rulesBroken('count is 4; want 5 or more', 'messages'), ['want']);
  t.deepEqual(rulesBroken('count is 4; expected 5 or more', 'messages'), []);
  t.deepEqual(rulesBroken('If you leave, want nothing', 'documents'), []);
});

test('a sentence of 46 words is too long in a paragraph, and not in a table or a comment', (t) => {
  const sentence = (words: number): string => `The ${'very '.repeat(words - 2)}end.`;
  const broken = (markdown: string): string[] =>
    readMarkdownPage('a.md', markdown)
      .prose.flatMap(check)
      .map(({ rule, line }) => `${line} ${rule}`);
  t.is(countWords(sentence(46)), 46);
  t.deepEqual(broken(`# Title\n\n${sentence(45)}\n${sentence(46)}\n`), ['4 long sentence']);
  t.deepEqual(broken(`- ${sentence(46)}\n`), ['1 long sentence']);
  t.deepEqual(broken(`| a |\n|---|\n| ${sentence(46)} |\n`), []);
  t.deepEqual(rulesBroken(sentence(46), 'docstrings'), []);
});

test('code is not read as prose, and counts as one word', (t) => {
  const page = readMarkdownPage('a.md', 'Run `mutirao begin anew`:\n\n    begin anew\n\n```sh\nbegin anew\n```\n');
  t.deepEqual(page.prose.flatMap(check), []);
  t.is(countWords(page.prose[0]?.text ?? ''), 2);
});

test('a finding names the line of its words, across the ends of lines', (t) => {
  const { prose } = readMarkdownPage('a.md', '# Title\n\nThe first line\nand what is\nthere.\n');
  t.like(prose.flatMap(check), { length: 1, 0: { file: 'a.md', line: 4, rule: 'what is there' } });
});

test('messages and comments of a source are read, in one piece where they are put together', (t) => {
  const source = [
    '/**',
    ' * Reads a file.',
    ' * Begins `anew` or anew.',
    ' */',
    'export function read(a: string): string {',
    "  if (a === '') throw new Error('the name is empty; ' + 'want ' + `a name, as ${a + ' in the'} example`);",
    "  return label({ help: 'Begin this file anew.' });",
    '  // A file that is gone',
    '  // begins anew.',
    '}',
  ].join('\n');
  const findings = readSourceTexts('a.ts', source).flatMap(check);
  t.deepEqual(findings.map(({ line, rule }) => `${line} ${rule}`).sort(), ['3 anew', '6 want', '7 anew', '9 anew']);
});

test('titles of tests are read, and not the texts in them', (t) => {
  const source = [
    "test('the broker begins anew', (t) => {",
    "  t.is(read('begins this anew'), 1);",
    '});',
    'for (const name of names)',
    '  test.serial(`${name} is told`, (t) => {});',
    "tester('all begins anew', 1);",
  ].join('\n');
  const findings = readTestTitles('a.test.ts', source).flatMap(check);
  t.deepEqual(
    findings.map(({ line, rule }) => `${line} ${rule}`),
    ['1 anew', '5 tell'],
  );
});

test('the glossary forbids what stands in its column "Do not say"', (t) => {
  const glossary =
    '# Glossary\n\n| Term | Meaning | Do not say |\n|---|---|---|\n| agent | a process | slave, "worker" (elsewhere) |\n' +
    '| broker | a process | |\n\n| Term | Meaning |\n|---|---|\n| job | many tasks |\n';
  t.deepEqual(
    [...readForbiddenTerms(glossary)],
    [
      ['slave', 'agent'],
      ['worker', 'agent'],
    ],
  );
});

test('links lead to files and headings that are there', (t) => {
  const page = readMarkdownPage(
    'docs/a.md',
    '# A `first` title\n\n## Twice\n\n## Twice\n\n[1](b.md#there) [2](../c.ts) [3](#twice-1) [4](#a-first-title)\n' +
      '[5](b.md#gone)\n[6](gone.md) [7](https://example.org/x) [8](#gone)\n',
  );
  const pages = new Map([
    ['docs/a.md', page],
    ['docs/b.md', readMarkdownPage('docs/b.md', '# There\n')],
  ]);
  const targets = { pages, exists: (path: string) => ['docs/a.md', 'docs/b.md', 'c.ts'].includes(path) };
  t.deepEqual(
    findDeadLinks(page, targets).map(({ line, message }) => `${line}: ${message}`),
    [
      '8: the link to b.md#gone is dead: docs/b.md has no heading for #gone',
      '9: the link to gone.md is dead: there is no docs/gone.md',
      '9: the link to #gone is dead: docs/a.md has no heading for #gone',
    ],
  );
  const named = ['b', 'gone'].map((name) => `// See docs/${name}.md.`).join('\n');
  t.like(findDeadMentions('a.ts', named, targets), { length: 1, 0: { line: 2, rule: 'dead link' } });
});

test('a name in angle brackets that would not be shown is found, and comments, code and anchors are not', (t) => {
  const page = readMarkdownPage(
    'a.md',
    'Cannot read <trouble>.\n\n`<code>` \\<fine> 1 < 2\n\n<!-- not run: x -->\n\n<a id="there"></a>\n',
  );
  t.like(findTags(page), { length: 1, 0: { line: 1, rule: 'html' } });
});

const finding = (file: string, rule: string): Finding => ({ file, line: 1, rule, message: 'm' });

test('a finding that is not known is shown, and so is a known one that is gone', (t) => {
  const known = countFindings([finding('a', 'anew'), finding('a', 'anew'), finding('b', 'tell')]);
  t.deepEqual(known, { a: { anew: 2 }, b: { tell: 1 } });
  t.deepEqual(compareFindings([finding('b', 'tell'), finding('a', 'anew'), finding('a', 'anew')], known), []);
  t.deepEqual(compareFindings([...Array<Finding>(2).fill(finding('a', 'anew')), finding('c', 'tell')], known), [
    'c:1: [tell] m',
    'b: 0 of 1 known "tell" are left',
    'Fewer findings than known: run "scripts/prose --shrink" and commit the list.',
  ]);
  t.deepEqual(
    compareFindings([...Array<Finding>(3).fill(finding('a', 'anew')), finding('b', 'tell')], known),
    Array<string>(3).fill('a:1: [anew] m (this file may have 2)'),
  );
});

test('known findings may move to another file, and may not grow', (t) => {
  const known = countFindings([finding('a', 'anew'), finding('b', 'tell')]);
  t.deepEqual(findGrowth(countFindings([finding('c', 'anew')]), known), []);
  t.deepEqual(findGrowth(countFindings([finding('c', 'anew'), finding('c', 'anew')]), known), [
    '"anew": 2 findings, 1 known',
  ]);
});

test('a dead link is never a known finding', (t) => {
  const dead = finding('a', 'dead link');
  t.deepEqual(countFindings([dead]), {});
  t.deepEqual(compareFindings([dead], {}), ['a:1: [dead link] m']);
});

const volumePage = `# A heading of five words

Three words here. And \`four of them\` now.

| head | cell |
|---|---|
| one | two words |

\`\`\`sh
run one --two
\`\`\`

<!-- begin part: a test writes it. -->

| made | by a program |
|---|---|

<!-- end part -->
<!-- example x -->
\`\`\`text
three more words
\`\`\`
`;

test('words are counted apart: prose with headings, tables, code, and what a script writes', (t) => {
  t.deepEqual(measureText(volumePage), {
    prose: 11,
    tables: 5,
    code: 3,
    generated: 7,
    sentences: [3, 3],
  });
  t.deepEqual(measureText(volumePage, true), { prose: 0, tables: 0, code: 0, generated: 26, sentences: [] });
});

test('a sentence goes on after the end of a line', (t) => {
  t.deepEqual(measureText('One sentence\nof five words. Two words.\n').sentences, [5, 2]);
});

test('more words than the limit are found, and so are sentences that are long on average', (t) => {
  const total = addVolumes([measureText('One two three. Four five.\n'), measureText('# Six\n')]);
  t.deepEqual(checkVolume(total, { writtenWordsMax: 6, averageSentenceMax: 2.5 }), []);
  t.like(checkVolume(total, { writtenWordsMax: 5, averageSentenceMax: 2.4 }), {
    length: 2,
    0: 'docs/ and README.md have 6 words that people wrote, at most 5: shorten pages ("scripts/prose --count" lists them), or move tables into data files.',
    1: 'Sentences have 2.5 words on average, at most 2.4: split long ones.',
  });
  t.regex(describeVolumes(new Map([['docs/a.md', total]]))[1] ?? '', /^ +6 +6 +0 +0 +0 +2\.5 +3 {2}docs\/a\.md$/);
});

test('the tables of a report become CSV files named by their headings', (t) => {
  const report =
    '# Report\n\n## Waste (section 4.6)\n\n| a | `b` |\n|---|---|\n| 1, 2 | say "x" |\n\n| c |\n|---|\n| 3 |\n\n' +
    '## Waits\n\nLoad 0.7.\n\n| d |\n|---|\n| 4 |\n\n![Figure 1: waits](x.svg)\n\n| e |\n|---|\n| 5 |\n';
  t.deepEqual(
    extractTables(report).map(({ name, csv }) => [name, csv]),
    [
      ['waste', 'a,b\n"1, 2","say ""x"""\n'],
      ['waste-1', 'c\n3\n'],
      ['waits-load-0-7', 'd\n4\n'],
      ['waits-figure-1-waits', 'e\n5\n'],
    ],
  );
});
