import {
  daxParts,
  daxVersions,
  jobXmlParts,
  profileParts,
  wfFormatVersion,
  wfFormatVersions,
  wfParts,
  type FormatPart,
  type PartUse,
} from '@mutirao/formats/workflow';

const uses: Readonly<Record<PartUse, string>> = {
  read: 'read',
  unused: 'not used',
  noted: 'not used, a warning says so',
  refused: '**refused**',
};

function table(
  title: string,
  parts: readonly FormatPart[],
  shorten: (path: string) => string = (path) => path,
): string[] {
  return [
    `| ${title} | versions | | what becomes of it |`,
    '|---|---|---|---|',
    ...parts.map(
      ({ paths, versions, use, becomes }) =>
        `| ${paths.map((path) => `\`${shorten(path)}\``).join(' ')} | ${versions} | ${uses[use]} | ${becomes} |`,
    ),
    '',
  ];
}

/** The text of docs/reference/workflow-formats.md. */
export function workflowFormatsMarkdown(): string {
  return [
    '# Workflow file formats',
    '',
    'The tables list every part of a DAX, WfFormat or job XML file that Mutirao accepts. Nothing is skipped silently:',
    '',
    '- A part that is in no table is refused with its name, line and column (`MUT_WORKFLOW_UNKNOWN`).',
    '- A part that asks for an unsupported feature is refused too (`MUT_WORKFLOW_UNSUPPORTED`).',
    '',
    '`scripts/generate` writes this page from the lists that the parsers use.',
    '',
    `## DAX ${daxVersions.oldest} to ${daxVersions.newest} (Pegasus, XML)`,
    '',
    'A path names an element below `adag`; `@` names an attribute. Every part is accepted in every version, even in ' +
      'versions that do not define it.',
    '',
    ...table('part', daxParts, (path) => path.replace(/^adag\//, '')),
    '**Profiles**, by `namespace::key`; `*` stands for every other key. A profile of the job overrides one of its ' +
      '`executable`. Any other namespace is refused.',
    '',
    ...table('profile', profileParts),
    '**Files.** A file that one job names twice is one file. If several jobs write a file, a reader gets the ' +
      'version of the last writer before it.',
    'If the edges leave open which writer is the last, the workflow is refused (`MUT_WORKFLOW_OUTPUT_CONFLICT`). A job ' +
      'with `link="inout"`',
    'reads the version before its own. Only the final version is brought home.',
    '',
    `## WfFormat ${wfFormatVersions[0] ?? ''} to ${wfFormatVersions.at(-1) ?? ''} (WfCommons, JSON)`,
    '',
    '`[]` stands for the elements of a list, `*` for every other field.',
    '',
    ...table('field', wfParts),
    '**Commands** are interpreted in the way that the published instances use them:',
    '',
    '- An argument is one word for the program, whatever characters it contains.',
    '- An argument that starts with an option followed by a blank is several words: `--level 3` is `--level` and ' +
      '`3`. Quotes group, as in a shell. A list or a map (`[`, `{`) is one word.',
    '- An argument that is a redirection (`>`, `>>`, `<`, `2>`, `2>&1`) redirects.',
    '- A program of several lines without arguments is a bash script (Nextflow). A program of several words is a ' +
      'shell command.',
    '- The arguments of Makeflow, Work Queue and TaskVine (`runtimeSystem.name`, `wms.name`) form a shell command, ' +
      "including patterns and quotes. Makeflow's start with the program.",
    '',
    '**Files.** An absolute path, or a URL other than `file:`, is replaced by a file below the folder of the ' +
      'workflow, with a warning. Files with several writers are treated as in DAX.',
    '',
    `\`workflow convert\` writes version ${wfFormatVersion}, or 1.6 with \`--to wfformat-1.6\`. A workflow without ` +
      'run times, commands, processors and memory is written without an execution.',
    'A workflow that has not run gets its longest path as `makespanInSeconds` and 1970-01-01 as `executedAt`, ' +
      'because the schema requires both.',
    '',
    "## Job XML (moreira2009's jScheduler)",
    '',
    ...table('part', jobXmlParts),
  ].join('\n');
}
