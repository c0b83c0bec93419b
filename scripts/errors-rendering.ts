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
import { consequences, listHappenings } from '@mutirao/api/fault-texts';
import { faultRows, type Fault, type FaultRow, type Phase } from '@mutirao/core/bag';

import { fillPart } from './fill-part.ts';

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

/** The text of docs/reference/configuration.md with the tables of limits. */
export function limitsMarkdown(former: string): string {
  const [messages, servers]: readonly (readonly [string, Limit])[][] = [
    Object.entries<Limit>(limits),
    Object.entries<Limit>(serverLimits),
  ];
  const page = fillPart(former, 'limits of messages', limitsTable(messages ?? []));
  return fillPart(page, 'limits of connections', `${limitsTable(servers ?? [])}\n${requestLimits()}`);
}

function limitsTable(entries: readonly (readonly [string, Limit])[]): string {
  return [
    '| name | at most | unit | what is limited |',
    '|---|---|---|---|',
    ...entries.map(([name, { max, unit, of }]) => `| ${name} | ${max.toLocaleString('en-US')} | ${unit} | ${of} |`),
    '',
  ].join('\n');
}

function requestLimits(): string {
  const [usual, open, streamed] = [requestBytesUsual, openRequestBytes, streamedRequestBytes].map((bytes) =>
    bytes.toLocaleString('en-US'),
  );
  return [
    `A request has at most ${usual} bytes, a health check ${open}, and each message of a stream ${streamed}. ` +
      'Requests must',
    'not be compressed. These calls may be larger:',
    '',
    '| call | bytes |',
    '|---|---|',
    ...Object.entries(requestBytes).map(
      ([path, bytes]) => `| ${path.split('/').at(-1) ?? ''} | ${bytes.toLocaleString('en-US')} |`,
    ),
    '',
  ].join('\n');
}

const phases: readonly (readonly [Phase, string])[] = [
  ['staging', 'While placing inputs'],
  ['launching', 'While starting the command'],
  ['running', 'While running'],
  ['collecting', 'While collecting outputs'],
  ['accepting', 'At home, when a result is accepted'],
];
const parties: readonly (readonly [Fault, string])[] = [
  ['task', 'task'],
  ['user', 'user (files at home)'],
  ['machine', 'machine'],
  ['misconduct', 'machine (misconduct)'],
  ['site', 'site'],
  ['unknown', 'unknown'],
];

function listRows(rows: readonly FaultRow[]): string[] {
  const partyOf = new Map(parties);
  const texts = listHappenings(rows);
  return rows.map(
    ({ errnos = [], fault, code }, index) =>
      `| ${texts[index] ?? ''} | ${errnos.join(', ')} | ${partyOf.get(fault) ?? fault} | ${code} |`,
  );
}

/** The text of docs/guides/troubleshooting.md with the table of faults. */
export function faultsMarkdown(former: string): string {
  const lines = [
    '| whose fault | consequence |',
    '|---|---|',
    ...parties.map(([fault, name]) => `| ${name} | ${consequences[fault]} |`),
    ...phases.flatMap(([phase, title]) => [
      '',
      `### ${title}`,
      '',
      '| what happens | system errors | whose fault | code |',
      '|---|---|---|---|',
      ...listRows(faultRows.filter((row) => row.phase === phase)),
    ]),
    '',
  ];
  return fillPart(former, 'table of faults', lines.join('\n'));
}

const callersText: Readonly<Record<Access['callers'], string>> = {
  users: 'any user',
  owner: 'the owner',
  agents: 'agents',
};

/** The text of docs/reference/security.md with the table of access. */
export function securityMarkdown(former: string): string {
  return fillPart(former, 'table of access', accessMarkdown());
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
