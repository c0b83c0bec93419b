import { accessTable, type Access } from '@mutirao/api/access';
import {
  limits,
  openRequestBytes,
  requestBytes,
  requestBytesUsual,
  serverLimits,
  streamedRequestBytes,
  type Limit,
} from '@mutirao/api/limits';
import { registry, type ErrorEntry } from '@mutirao/api/errors';
import { consequences, faultRows, type Fault, type Phase } from '@mutirao/core/bag';

const prefix = 'ERROR_REASON_';
const line = /^ {2}ERROR_REASON_(MUT_[A-Z0-9_]+) = (\d+);$/gm;

/**
 * The numbers that an errors.proto gives to its codes. The first holder of a number keeps it; a later one is left out.
 */
export function listNumbers(proto: string): Map<string, number> {
  const numbers = new Map<string, number>();
  const taken = new Set<number>();
  for (const [, code, digits] of proto.matchAll(line)) {
    const number = Number(digits);
    if (code === undefined || taken.has(number)) continue;
    taken.add(number);
    numbers.set(code, number);
  }
  return numbers;
}

/** What an errors.proto keeps back: codes that are gone, with their numbers in the same order. */
function getReserved(proto: string): Map<string, number> {
  const names = [...proto.matchAll(/"ERROR_REASON_(MUT_[A-Z0-9_]+)"/g)].map(([, code]) => code ?? '');
  const numbers = (/^ {2}reserved ([\d, ]+);$/m.exec(proto)?.[1] ?? '')
    .split(', ')
    .filter((digits) => digits !== '')
    .map(Number);
  return new Map(names.map((code, index) => [code, numbers[index] ?? 0]));
}

/**
 * The text of errors.proto for the registry. A code keeps the number that `former` gives it; a new one gets the next.
 *
 * @param former the present errors.proto, or empty.
 */
export function errorsProto(former: string): string {
  const numbers = listNumbers(former);
  const codes = Object.keys(registry).sort();
  const reserved = getReserved(former);
  for (const [code, number] of numbers) if (!codes.includes(code)) reserved.set(code, number);
  let highest = Math.max(0, ...numbers.values(), ...reserved.values());
  const lines = codes.map((code) => `  ${prefix}${code} = ${numbers.get(code) ?? ++highest};`);
  const gone = [...reserved].sort(([a], [b]) => (a < b ? -1 : 1));
  const reservations =
    gone.length === 0
      ? []
      : [
          `  reserved ${gone.map(([, number]) => number).join(', ')};`,
          `  reserved ${gone.map(([code]) => `"${prefix}${code}"`).join(', ')};`,
        ];
  return [
    'syntax = "proto3";',
    '',
    '// The stable reasons of errors: google.rpc.ErrorInfo carries them as text, without the prefix ' +
      'ERROR_REASON_, in the domain "mutirao".',
    '// Written by scripts/generate from the error registry; docs/reference/errors.md describes each.',
    'package mutirao.common.v1;',
    '',
    'enum ErrorReason {',
    ...reservations,
    `  ${prefix}UNSPECIFIED = 0;`,
    ...lines,
    '}',
    '',
  ].join('\n');
}

/** The text of docs/reference/errors.md for the registry. */
export function errorsMarkdown(): string {
  const entries: [string, ErrorEntry][] = Object.entries(registry);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    '# Error codes',
    '',
    'Every error has a stable code. Over gRPC the code is the reason of a `google.rpc.ErrorInfo` in the domain ' +
      '`mutirao`.',
    'Where *retry* is yes, the same call may succeed later. `scripts/generate` writes this page from the error ' +
      'registry.',
    '',
    '| code | gRPC status | retry | what to do |',
    '|---|---|---|---|',
    ...entries.map(
      ([code, { status, retryable, advice }]) =>
        `| ${code} | ${status} | ${retryable ? 'yes' : 'no'} | ${advice.replaceAll('|', '\\|')} |`,
    ),
    '',
  ].join('\n');
}

/** The text of docs/limits.md for the table of limits. */
export function limitsMarkdown(): string {
  const entries: [string, Limit][] = Object.entries(limits);
  return [
    '# Limits of what others say',
    '',
    'A machine, a provider, a cluster or a broker may be hostile or faulty. What it says is refused where it ' +
      'comes in when it is longer, more, larger or later than this page allows. A report that is refused',
    'is held against the machine that made it (see [trust.md](trust.md)); anything else closes the stream that ' +
      "it came on. What Mutirao's own programs write is shortened to these bounds.",
    '',
    'The page is written by `scripts/generate` from the table that the programs use (`packages/api/src/limits.ts`).',
    '',
    '| name | at most | unit | of what |',
    '|---|---|---|---|',
    ...entries.map(describeLimit),
    '',
    ...serverLimitsMarkdown(),
  ].join('\n');
}

function describeLimit([name, { max, unit, of }]: [string, Limit]): string {
  return `| ${name} | ${max.toLocaleString('en-US')} | ${unit} | ${of} |`;
}

function serverLimitsMarkdown(): string[] {
  const entries: [string, Limit][] = Object.entries(serverLimits);
  const larger = Object.entries(requestBytes).map(
    ([path, bytes]) => `| ${path.split('/').at(-1) ?? ''} | ${bytes.toLocaleString('en-US')} |`,
  );
  return [
    '## Connections and calls',
    '',
    'Every server decides by the headers of a call (its method and its credential) whether it is admitted. The ' +
      'body of a call that is not admitted is neither read nor kept. What one user may take beyond that is in ' +
      '[quotas.md](quotas.md). A connection is *proven* once a',
    'call on it came with a credential that was accepted..',
    '',
    '| name | at most | unit | of what |',
    '|---|---|---|---|',
    ...entries.map(describeLimit),
    '',
    `The request of a call is at most ${requestBytesUsual.toLocaleString('en-US')} bytes, that of a health ` +
      `check ${openRequestBytes.toLocaleString('en-US')}, each message of a stream of requests ` +
      `${streamedRequestBytes.toLocaleString('en-US')}. Requests must not be compressed. These calls may be ` +
      'larger:',
    '',
    '| call | bytes |',
    '|---|---|',
    ...larger,
    '',
  ];
}

const phases: readonly (readonly [Phase, string])[] = [
  ['staging', 'putting inputs in place'],
  ['launching', 'starting the command'],
  ['running', 'running'],
  ['collecting', 'collecting outputs'],
  ['accepting', 'at home'],
];
const parties: readonly (readonly [Fault, string])[] = [
  ['task', 'task'],
  ['user', 'user (files at home)'],
  ['machine', 'machine'],
  ['misconduct', 'machine (misconduct)'],
  ['site', 'site'],
  ['unknown', 'unknown'],
];

/** The text of docs/faults.md for the table of faults. */
export function faultsMarkdown(): string {
  const partyOf = new Map(parties);
  return [
    '# Whose fault an error is',
    '',
    "A run of a task (a replica) can go wrong because of the task, the user's files at home, the machine, or " +
      'the site. One rule decides, and this page shows all of it. It is written by',
    '`scripts/generate` from the table that the programs use (`packages/core/src/bag/faults.ts`).',
    '',
    'A machine is blamed only for what another task would meet there as well: a full disk, a read-only file ' +
      'system, no further process. Names, links, permissions, path lengths and special files of a',
    "task are the task's own doing. What nobody can place is held against nobody until something corroborates it.",
    '',
    '## What the grid does',
    '',
    '| whose fault | what the grid does |',
    '|---|---|',
    ...parties.map(([fault, name]) => `| ${name} | ${consequences[fault]} |`),
    ...phases.flatMap(([phase, title]) => [
      '',
      `## Errors while ${title}`.replace('while at home', 'at home, when a result is accepted'),
      '',
      '| what happens | errors of the system | whose fault | code |',
      '|---|---|---|---|',
      ...faultRows
        .filter((row) => row.phase === phase)
        .map(
          ({ happens, errnos = [], fault, code }) =>
            `| ${happens} | ${errnos.join(', ')} | ${partyOf.get(fault) ?? fault} | ${code} |`,
        ),
    ]),
    '',
    '`mutirao explain task JOB INDEX` shows the code and the detail of each run, `mutirao task list JOB` those ' +
      'of the last one.',
    '',
  ].join('\n');
}

const callersText: Readonly<Record<Access['callers'], string>> = {
  users: 'any user',
  owner: 'the owner',
  agents: 'agents',
};
const tableBegins = '<!-- The table of access begins; scripts/generate writes it. -->';
const tableEnds = '<!-- The table of access ends. -->';

/** The text of docs/security.md with the table of access between its two marks, which a first text has to have. */
export function securityMarkdown(former: string): string {
  const [begins, ends] = [former.indexOf(tableBegins), former.indexOf(tableEnds)];
  if (begins < 0 || ends < begins) throw new Error('docs/security.md has no place for the table of access');
  return `${former.slice(0, begins + tableBegins.length)}\n\n${accessMarkdown()}\n${former.slice(ends)}`;
}

function accessMarkdown(): string {
  return Object.entries(accessTable)
    .map(([service, rows]) =>
      [
        `### ${service.split('.').at(-1) ?? service}`,
        '',
        '| method | who may call | objects | other objects | note |',
        '|---|---|---|---|---|',
        ...Object.entries(rows).map(
          ([name, access]) =>
            `| ${name.charAt(0).toUpperCase()}${name.slice(1)} | ${callersText[access.callers]} | ` +
            `${access.objects} | ${othersText(access.others)} | ${access.note ?? ''} |`,
        ),
        '',
      ].join('\n'),
    )
    .join('\n');
}

function othersText(others: Access['others']): string {
  if (others === undefined) return '';
  return others === 'left out' ? others : `\`${others}\``;
}
