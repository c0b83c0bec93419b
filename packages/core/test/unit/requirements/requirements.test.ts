import test from 'ava';
import { describeRequirementsFault, sayReason } from '@mutirao/api/sentences';
import {
  evaluate,
  explainMatch,
  parseRequirements,
  requirementsDepthMax,
  type Requirements,
  type RequirementsError,
} from '@mutirao/core/requirements';

const lab = {
  os: 'Linux',
  mem: '512',
  site: 'lab',
  load: '1.5',
  'path:java': '/usr/bin/java',
  'path:gcc': 'false',
  'version:java': '1.10',
};

function read(text: string): Requirements {
  const parsed = parseRequirements(text);
  if (parsed.kind === 'error') throw new Error(`${text}: ${sayReason(parsed.fault)}`);
  return parsed;
}

function refusal(text: string): RequirementsError {
  const parsed = parseRequirements(text);
  if (parsed.kind !== 'error') throw new Error(`${text} was accepted`);
  return parsed;
}

const verdicts: readonly (readonly [string, ReturnType<typeof evaluate>])[] = [
  ['', 'match'],
  ['   ', 'match'],
  ['os == linux', 'match'],
  ['OS = LINUX', 'match'],
  ['os == "linux"', 'match'],
  ['os==linux&&mem>=512', 'match'],
  ['os == ubuntu-22.04', 'no match'],
  ['mem == 0512', 'no match'],
  ['mem != 0512', 'match'],
  ['mem < 513', 'match'],
  ['mem > 512', 'no match'],
  ['mem <= 512', 'match'],
  ['load > 1', 'match'],
  ['load >= 1.5', 'match'],
  ['site > 1', 'no match'],
  ['! (site > 1)', 'match'],
  ['mem > lots', 'no match'],
  ['gpu == 1', 'undefined'],
  ['gpu != 1', 'undefined'],
  ['! ( gpu == 1 )', 'undefined'],
  ['gpu == 1 || os == linux', 'match'],
  ['gpu == 1 && os == windows', 'no match'],
  ['gpu == 1 && os == linux', 'undefined'],
  ['gpu == 1 || os == windows', 'undefined'],
  ['gpu', 'undefined'],
  ['! gpu', 'undefined'],
  ['os == linux or os == windows and mem > 1000', 'match'],
  ['(os == linux or os == windows) and mem > 1000', 'no match'],
  ['not os == windows && mem > 1000', 'no match'],
  ['NOT os == windows AND mem == 512', 'match'],
  ['! ! os == linux', 'match'],
  ['in_path java', 'match'],
  ['IN_PATH gcc', 'no match'],
  ['IN_PATH perl', 'undefined'],
  ['IN_CLASSPATH junit', 'undefined'],
  ['VERSION java 1.4', 'match'],
  ['VERSION java 1.10', 'match'],
  ['VERSION java 1.10.1', 'no match'],
  ['IN_PATH java && VERSION java 2', 'no match'],
  ['constructor == x', 'undefined'],
];

for (const [text, verdict] of verdicts) {
  test(`the lab machine against "${text}": ${verdict}`, (t) => {
    t.is(evaluate(read(text), lab), verdict);
  });
}

test('an attribute named version can be compared like any other', (t) => {
  t.is(evaluate(read('version >= 3'), { version: '4' }), 'match');
});

test('attributes stated with capitals are found', (t) => {
  t.is(evaluate(read('processorfamily == arm'), { ProcessorFamily: 'ARM' }), 'match');
});

const refusals: readonly (readonly [string, number, string, string])[] = [
  ['os ==', 5, 'the end', 'the value that "os" is compared with'],
  ['os == linux mem > 3', 12, '"mem"', '"&&", "||" or the end'],
  ['os linux', 3, '"linux"', 'one of ==, !=, <, >, <=, >='],
  ['(os == linux', 12, 'the end', '"&&", "||" or ")"'],
  ['os == linux)', 11, '")"', '"&&", "||" or the end'],
  ['os == linux & mem > 3', 12, '"&"', '"&&"'],
  ['os == "linux', 12, 'the end', 'a closing double quote'],
  ['&& os == linux', 0, '"&&"', 'an attribute name, "not" or "("'],
  ['os == linux;', 11, '";"', 'a name, a value or an operator'],
  ['version java', 12, 'the end', 'the least version of "java"'],
];

for (const [text, offset, found, expected] of refusals) {
  test(`"${text}" is refused at ${offset}`, (t) => {
    const { fault } = refusal(text);
    t.deepEqual({ offset: fault.character - 1, ...describeRequirementsFault(fault) }, { offset, found, expected });
  });
}

test('nesting is bounded, so that a hostile text cannot exhaust the stack', (t) => {
  t.is(refusal('('.repeat(100_000)).fault.character, requirementsDepthMax + 1);
  t.is(refusal('!'.repeat(100_000)).fault.character, requirementsDepthMax + 1);
  const chain = Array.from({ length: 20_000 }, () => 'os == linux').join(' && ');
  t.is(evaluate(read(chain), lab), 'match');
});

/** Why the machine does not match, without its name. */
function listMismatches(text: string): unknown[] {
  return explainMatch('m1', read(text), lab).map(({ machineId, ...mismatch }) => mismatch);
}

function notMet(requirement: string, attribute: string, value: string, wantedValue: string): unknown {
  return { code: 'requirement-not-met', requirement, attribute, value, notNumeric: 'neither', wantedValue };
}

test("an explanation names each atom that does not match, the required value and the machine's", (t) => {
  t.deepEqual(listMismatches('os == windows && mem >= 1024 && site == lab'), [
    notMet('os == windows', 'os', 'Linux', 'windows'),
    notMet('mem >= 1024', 'mem', '512', '1024'),
  ]);
});

test('an explanation looks through negations and alternatives', (t) => {
  t.deepEqual(listMismatches('not (os == linux or site == lab)'), [
    notMet('not ( os == linux )', 'os', 'Linux', 'linux'),
    notMet('not ( site == lab )', 'site', 'lab', 'lab'),
  ]);
  t.deepEqual(listMismatches('os == windows or mem > 600'), [
    notMet('os == windows', 'os', 'Linux', 'windows'),
    notMet('mem > 600', 'mem', '512', '600'),
  ]);
});

test('an undefined attribute is named, with the nearest one that the machine states', (t) => {
  const code = 'requirement-not-stated';
  t.deepEqual(listMismatches('sitee == lab'), [
    { code, requirement: 'sitee == lab', attribute: 'sitee', similarAttribute: 'site' },
  ]);
  t.deepEqual(listMismatches('gpu != 1'), [{ code, requirement: 'gpu != 1', attribute: 'gpu' }]);
  t.deepEqual(listMismatches('in_path perl'), [{ code, requirement: 'in_path perl', attribute: 'path:perl' }]);
});

test('what can never match says so', (t) => {
  t.deepEqual(listMismatches('gpu'), [{ code: 'requirement-bare-name', requirement: 'gpu', attribute: 'gpu' }]);
  t.like(listMismatches('mem > lots')[0], { value: '512', wantedValue: 'lots', notNumeric: 'wanted' });
  t.like(listMismatches('site > 3')[0], { value: 'lab', wantedValue: '3', notNumeric: 'stated' });
});

test('a machine that matches needs no explanation', (t) => {
  t.deepEqual(explainMatch('m1', read('os == linux or gpu == 1'), lab), []);
  t.deepEqual(explainMatch('m1', read(''), {}), []);
});
