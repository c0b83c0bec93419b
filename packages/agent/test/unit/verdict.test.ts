import test from 'ava';
import { isErrorCode, MutiraoError } from '@mutirao/api/errors';
import { consequences, listHappenings } from '@mutirao/api/fault-texts';
import { faultOfCode, faultRows } from '@mutirao/core/bag';
import { getVerdict } from '../../src/verdict.ts';

const failing = ['task', 'user'];
/** Reported by the broker alone, or by an agent without any error. */
const reported = faultRows.filter(({ phase }) => phase !== 'accepting');

const happenings = listHappenings(reported);
for (const [index, { phase, code, fault, errnos = [] }] of reported.entries()) {
  const happens = happenings[index] ?? '';
  test(`while ${phase}: ${happens} (${code}) is the fault of: ${fault}`, (t) => {
    const outcome = failing.includes(fault) ? 'failed' : 'broken';
    t.true(isErrorCode(code), 'the code is in the registry');
    t.not(consequences[fault], undefined);
    if (isErrorCode(code) && faultOfCode(code) === fault)
      t.like(getVerdict(new MutiraoError(code, 'why'), phase), { outcome, reason: code, detail: 'why' });
    for (const errno of errnos) {
      const error = Object.assign(new Error(`${errno}: of the system`), { code: errno });
      t.like(getVerdict(error, phase), { outcome, reason: code }, errno);
      // As `fileError` and others wrap them.
      t.like(
        getVerdict(new MutiraoError('MUT_FILE_NOT_FOUND', 'wrapped', { cause: error }), phase),
        { outcome, reason: code },
        `${errno} as the cause`,
      );
    }
  });
}

test("no code is one party's fault in one phase and another's in a later one, as far as machines report it", (t) => {
  for (const { code, fault, phase } of reported) t.is(fault, faultOfCode(code), `${code} while ${phase}`);
});

test('an error of the system stands in one row of a phase', (t) => {
  for (const phase of new Set(reported.map((row) => row.phase))) {
    const errnos = reported.filter((row) => row.phase === phase).flatMap((row) => row.errnos ?? []);
    t.deepEqual(
      errnos.filter((errno, index) => errnos.indexOf(errno) !== index),
      [],
      phase,
    );
  }
});

test('an error that no row names is held against nobody', (t) => {
  for (const phase of ['staging', 'launching', 'collecting'] as const) {
    t.like(getVerdict(new Error('odd'), phase), { outcome: 'broken', reason: 'MUT_STAGING_FAILED' });
    t.is(faultOfCode('MUT_STAGING_FAILED'), 'unknown');
    t.like(getVerdict(new MutiraoError('MUT_INTERNAL', 'odd'), phase), { outcome: 'broken', reason: 'MUT_INTERNAL' });
  }
});

test('a full disk is reported as one in every phase', (t) => {
  t.like(getVerdict(new MutiraoError('MUT_DISK_FULL', 'no room'), 'staging'), {
    outcome: 'broken',
    reason: 'MUT_NO_SPACE',
  });
});
