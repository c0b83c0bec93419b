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

/** The text of docs/workflow-formats.md. */
export function workflowFormatsMarkdown(): string {
  return [
    '# What is read of workflow files',
    '',
    'These tables list every part of a workflow file that Mutirao knows. `scripts/generate` writes this page ' +
      'from the lists that the readers themselves go by. A part that is in no table is refused with its',
    'name, line and column (`MUT_WORKFLOW_UNKNOWN`); a part that asks for something that is not done here is ' +
      'refused too (`MUT_WORKFLOW_UNSUPPORTED`). Nothing is skipped in silence.',
    '',
    `## DAX ${daxVersions.oldest} to ${daxVersions.newest} (Pegasus, XML)`,
    '',
    'A path names an element below `adag`; `@` names an attribute. A part is read in every version, also where ' +
      'only others define it.',
    '',
    ...table('part', daxParts, (path) => path.replace(/^adag\//, '')),
    '**Profiles**, by `namespace::key`; `*` stands for every other key. A profile of the job goes before one of ' +
      'its `executable`. A namespace that is not here is refused.',
    '',
    ...table('profile', profileParts),
    '**Files.** A file that is named twice by one job is one file. Where several jobs write a file, its reader ' +
      'gets the version of the last one before it; where the edges do not say which that is, the workflow is',
    'refused (`MUT_WORKFLOW_OUTPUT_CONFLICT`). A job with `link="inout"` reads the version before its own. Only the ' +
      'last version comes home.',
    '',
    `## WfFormat ${wfFormatVersions[0] ?? ''} to ${wfFormatVersions.at(-1) ?? ''} (WfCommons, JSON)`,
    '',
    '`[]` stands for the elements of a list, `*` for every other field.',
    '',
    ...table('field', wfParts),
    '**Commands.** What the published instances hold is read as they mean it:',
    '',
    '- An argument is one word for the program, whatever it holds.',
    '- An argument that begins with an option and goes on behind a blank is several words: `--level 3` is ' +
      '`--level` and `3`. Quotes in it group, as in a shell; a list or a map (`[`, `{`) is one word.',
    '- An argument that is a redirection (`>`, `>>`, `<`, `2>`, `2>&1`) redirects.',
    '- A program of several lines without arguments is a script for bash (Nextflow); one of several words is a ' +
      'line for the shell.',
    '- Arguments of Makeflow, Work Queue and TaskVine (`runtimeSystem.name`, `wms.name`) are a line for the ' +
      "shell, patterns and quotes included. Makeflow's begin with the program.",
    '',
    '**Files.** A name that is a path from the root, or a URL other than `file:`, stands for a file below the ' +
      'folder of the workflow; a warning says so. Several writers of a file are as in DAX.',
    '',
    `Version ${wfFormatVersion} is written; \`--to wfformat-1.6\` writes 1.6. A workflow without run times, ` +
      'commands, processors and memory is written as a specification alone. One that has not run has the',
    'longest path as `makespanInSeconds` and 1970-01-01 as `executedAt`, since the schema wants both.',
    '',
    "## Job XML (moreira2009's jScheduler)",
    '',
    ...table('part', jobXmlParts),
  ].join('\n');
}
