// Every reason has a sentence, and the page that lists them is made of the table and the catalogue.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import {
  decodeCause,
  decodeReason,
  encodeCause,
  encodeReason,
  reasonCodes,
  reasonDocument,
  sayReason,
} from '@mutirao/api/reasons';
import {
  causeTable,
  faultTable,
  reasonTable,
  type ParameterKind,
  type Reason,
  type ReasonCode,
} from '@mutirao/core/reasons';

const page = new URL('../../../../../docs/reference/reasons.md', import.meta.url);
/** 2026-03-01 12:00 UTC. */
const noon = 1_772_366_400_000;

/** Sample values of numbers by the last word of their names; the first that fits. */
const numbers: readonly (readonly [RegExp, number])[] = [
  [/^nowUnixMs$/, noon + 3_600_000],
  [/UnixMs$/, noon],
  [/^expectedStartMs$/, 2200],
  [/^startMs$/, 3700],
  [/walltimeMs|WalltimeMs/i, 300_000],
  [/Ms(?:Max)?$/, 91_000],
  [/^percent$/, 83.2],
  [/PerHour/, 12.345],
  [/Processors(?:Max)?$|^processors/, 4],
  [/Before$/, 2],
];

/** A reason inside of another. */
const cause: Reason = { code: 'run-time-exceeded', ranMs: 91_000, runTimeMsMax: 90_000 };

/** Texts that may be empty. */
const mayBeEmpty = /^(?:cause)$/;

function getSample(code: ReasonCode, isFull: boolean): Reason {
  const parameters = Object.entries<ParameterKind>(reasonTable[code]).flatMap(([name, kind]) => {
    const value = sampleValue(name, kind, isFull);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { code, ...Object.fromEntries(parameters) } as Reason;
}

function sampleValue(name: string, kind: ParameterKind, isFull: boolean): unknown {
  if (typeof kind !== 'string') return kind[0];
  if (kind.endsWith('?') && !isFull) return undefined;
  switch (kind) {
    case 'flag':
      return isFull;
    case 'texts':
      return ['m1', 'm2'];
    case 'cause':
      return isFull ? cause : '';
    case 'text':
    case 'text?':
      return sampleText(name, isFull);
    default:
      return sampleNumber(name, isFull);
  }
}

function sampleText(name: string, isFull: boolean): string {
  if (name === 'waiting') return 'no machine is free.';
  return isFull || !mayBeEmpty.test(name) ? `<${name}>` : '';
}

function sampleNumber(name: string, isFull: boolean): number {
  if (!isFull && /^(?:stated|outlasted|start)Ms$|^longerRunning|^unused/.test(name)) return 0;
  return numbers.find(([pattern]) => pattern.test(name))?.[1] ?? 3;
}

function getKind(kind: ParameterKind): string {
  if (typeof kind !== 'string') return kind.map((word) => `\`${word}\``).join(' or ');
  return (
    { number: 'number', 'number?': 'number, may be absent', text: 'text', 'text?': 'text, may be absent' }[
      kind as 'number'
    ] ?? { flag: 'true or false', texts: 'list of texts', cause: 'another reason, or a text' }[kind as 'flag']
  );
}

function sectionOf(code: ReasonCode): string[] {
  const texts = new Set([getSample(code, true), getSample(code, false)].map((reason) => sayReason(reason)));
  const parameters = Object.entries<ParameterKind>(reasonTable[code]).map(
    ([name, kind]) => `- \`${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}\`: ${getKind(kind)}`,
  );
  return [
    `## ${code}`,
    '',
    // A name in angle brackets would be read as a tag of HTML.
    ...[...texts].map((text) => `> ${text.replaceAll('<', String.raw`\<`)}\n`),
    ...parameters,
    ...(parameters.length > 0 ? [''] : []),
  ];
}

test('the page of reasons lists every code with its parameters and its sentence', (t) => {
  const made = [
    '# Reasons',
    '',
    'Why a request was made, released or withdrawn, and what `mutirao explain` answers: each reason has a stable code,',
    'parameters for programs, and one sentence for people. `--json`, the API and the page of a grid carry all three.',
    'The last word of a parameter is its unit. The sentences below are made of sample values. Those of errors begin',
    'with a small letter: an error shows its code of the [registry](errors.md) before them, and carries the reason in',
    'the details of its gRPC status (`mutirao.common.v1.Reason`). So do those that are part of another: its `cause`, or',
    'the detail of a replica.',
    '',
    'This page is generated: `BLESS=1 npx ava packages/api/test/unit/reasons/reasons.test.ts` writes it.',
    '',
    ...reasonCodes.flatMap(sectionOf),
  ].join('\n');
  if (process.env['BLESS'] === '1') writeFileSync(page, made);
  t.is(existsSync(page) ? readFileSync(page, 'utf8') : '', made);
});

test('every sentence is one line that ends with a full stop, but for parts of others, and has no value left out', (t) => {
  for (const code of reasonCodes.filter((one) => one !== 'unknown-reason' && one !== 'provider-trouble')) {
    for (const isFull of [true, false]) {
      const text = sayReason(getSample(code, isFull));
      // An error goes on after its code: "error: MUT_NO_ROOM not enough capacity ...".
      const isPart = code in faultTable || code in causeTable;
      t.regex(text, isPart ? /^[^\nA-Z][^\n]*[^.\n]$/ : /^[^\n]*\.$/, `${code}: ${text}`);
      t.notRegex(text, /undefined|NaN|\[object|null/, `${code}: ${text}`);
      t.notRegex(text, /\bin 0 ms|\b0 ms ago|[:(] ?[.)]/, `${code}: ${text}`);
    }
  }
});

test('every reason comes over the wire as it was', (t) => {
  for (const code of reasonCodes.filter((one) => one !== 'unknown-reason')) {
    for (const isFull of [true, false]) {
      const reason = getSample(code, isFull);
      t.deepEqual(decodeReason(encodeReason(reason), 'reason'), reason);
    }
  }
});

test('a reason of another release keeps its code and its sentence', (t) => {
  const foreign = { code: 'not-of-here', parameters: {}, text: 'It is of another release.' };
  const reason = decodeReason(foreign, 'reason');
  t.deepEqual(reason, { code: 'unknown-reason', reasonCode: 'not-of-here', words: 'It is of another release.' });
  t.deepEqual(encodeReason(reason), foreign);
  const changed = { ...encodeReason({ code: 'released-idle', idleMs: 1 }), parameters: {} };
  t.like(decodeReason(changed, 'reason'), { code: 'unknown-reason', reasonCode: 'released-idle' });
  t.throws(() => decodeReason({ code: 'No Code', parameters: {}, text: '' }, 'reason'), { code: 'MUT_BAD_REQUEST' });
});

test('a cause is a typed reason, or the words of others without a code', (t) => {
  for (const one of [cause, 'no such file', '']) t.deepEqual(decodeCause(encodeCause(one), 'cause'), one);
  t.is(encodeCause(''), undefined);
  t.like(encodeCause('no such file'), { code: '', text: 'no such file' });
});

test('a reason inside another has its sentence there, and its parameters as JSON', (t) => {
  const loss = { code: 'last-loss', endCode: 'MUT_RUN_TIME_MAX', cause } as const;
  const said = 'last loss: MUT_RUN_TIME_MAX: ran for 1 min 31 s; its limit is 1 min 30 s';
  t.deepEqual(reasonDocument(encodeReason(loss)), {
    code: 'last-loss',
    parameters: { end_code: 'MUT_RUN_TIME_MAX', cause: reasonDocument(encodeReason(cause)) },
    text: said,
  });
});

test('what a peer says cannot control a terminal, and has few reasons inside one another', (t) => {
  const words = encodeReason({ code: 'last-loss', endCode: '\u001b[2J', cause: '\u0007' });
  t.notRegex(JSON.stringify(decodeCause(words, 'cause')), /u001b|u0007/);
  let deep: Reason = { code: 'last-loss', endCode: '', cause: '' };
  for (let depth = 2; depth <= 4; depth += 1) deep = { code: 'last-loss', endCode: '', cause: deep };
  t.deepEqual(decodeCause(encodeCause(deep), 'cause'), deep);
  const deeper = encodeCause({ code: 'last-loss', endCode: '', cause: deep });
  t.throws(() => decodeCause(deeper, 'cause'), { code: 'MUT_BAD_REQUEST', message: /more than 4 reasons/ });
});

test('of a cause with endless parameters its sentence is kept', (t) => {
  const machineIds = Array.from({ length: 100 }, (_, index) => `${index}${'m'.repeat(1000)}`);
  const wire = encodeCause({ code: 'request-machines', machineIds });
  t.is(typeof decodeCause(wire, 'cause'), 'string');
  t.true(JSON.stringify(decodeCause(wire, 'cause')).length < 20_000);
  t.deepEqual(decodeCause(encodeCause({ code: 'request-machines', machineIds: ['a'] }), 'cause'), {
    code: 'request-machines',
    machineIds: ['a'],
  });
});

test('as JSON a reason has plain parameters', (t) => {
  t.deepEqual(reasonDocument(encodeReason({ code: 'request-machines', machineIds: ['a', 'b'] })), {
    code: 'request-machines',
    parameters: { machine_ids: ['a', 'b'] },
    text: 'Its machines: a, b.',
  });
});

test('numbers are rounded for people', (t) => {
  const say = (startMs: number, expectedStartMs: number): string =>
    sayReason({ code: 'finish-earliest-completion', processors: 4, walltimeMs: 300_000, startMs, expectedStartMs });
  const what = 'Earliest expected completion: 4 processors for 5 min';
  t.is(say(3700, 2200), `${what}, starting in about 2 s (4 s at the latest).`);
  t.is(say(0, 0), `${what}, starting now.`);
  t.is(say(777_600_000, 777_600_000), `${what}, starting within 9 days.`);
});
