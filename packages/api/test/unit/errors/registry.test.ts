import { readFileSync } from 'node:fs';
import { errorOfCode, isErrorCode, MutiraoError, registry } from '@mutirao/api/errors';
import test from 'ava';
import {
  errorsMarkdown,
  errorsProto,
  faultsMarkdown,
  limitsMarkdown,
  listNumbers,
  securityMarkdown,
} from '../../../../../scripts/errors-rendering.ts';

const root = new URL('../../../../../', import.meta.url);
const codes = Object.keys(registry);
const advice = 'run scripts/generate and commit what it writes';

test('codes are in the order of the alphabet', (t) => {
  t.deepEqual(codes, [...codes].sort(), 'move the lines of packages/api/src/errors/registry.ts into order');
});

test('docs/reference/errors.md describes each code, and no other', (t) => {
  t.is(readFileSync(new URL('docs/reference/errors.md', root), 'utf8'), errorsMarkdown(), advice);
});

for (const [name, fill] of [
  ['guides/troubleshooting.md', faultsMarkdown],
  ['reference/configuration.md', limitsMarkdown],
  ['reference/security.md', securityMarkdown],
] as const) {
  test(`docs/${name} has the tables that the programs use`, (t) => {
    const page = readFileSync(new URL(`docs/${name}`, root), 'utf8');
    t.is(page, fill(page), advice);
  });
}

test('errors.proto has each code, and no other', (t) => {
  const proto = readFileSync(new URL('proto/mutirao/common/v1/errors.proto', root), 'utf8');
  t.deepEqual([...listNumbers(proto).keys()].sort(), codes, advice);
  t.is(proto, errorsProto(proto), advice);
});

test('a code keeps its number when others come and go, and a number is never used again', (t) => {
  const former = errorsProto('');
  const number = listNumbers(former).get('MUT_UNREACHABLE') ?? 0;
  const gone = former
    .replace('ERROR_REASON_MUT_CANCELLED =', 'ERROR_REASON_MUT_FORMERLY =')
    .replace('ERROR_REASON_MUT_INTERNAL =', 'ERROR_REASON_MUT_EARLIER =');
  const once = errorsProto(gone);
  t.is(listNumbers(once).get('MUT_UNREACHABLE'), number);
  t.regex(once, /reserved "ERROR_REASON_MUT_EARLIER", "ERROR_REASON_MUT_FORMERLY";/);
  const highest = Math.max(...listNumbers(former).values());
  t.is(listNumbers(once).get('MUT_CANCELLED'), highest + 1);
  t.is(errorsProto(once), once);
});

test('each advice is one sentence', (t) => {
  for (const [code, { advice: sentence }] of Object.entries(registry)) {
    t.regex(sentence, /^[A-Z].*\.$/, code);
    t.false(sentence.includes('\n'), code);
  }
});

test('a code that came as text becomes its error, an unknown one an internal error that names it', (t) => {
  t.like(errorOfCode('MUT_BAD_REQUEST', 'x is 0'), { code: 'MUT_BAD_REQUEST', message: 'x is 0' });
  t.like(errorOfCode('MUT_NONSENSE', 'x is 0'), {
    code: 'MUT_INTERNAL',
    message: 'x is 0 (unknown code MUT_NONSENSE)',
  });
  t.false(isErrorCode('toString'));
});

test('an error knows what its code means', (t) => {
  const error = new MutiraoError('MUT_UNREACHABLE', 'nobody there', { cause: 'why', field: 'address' });
  t.like(error, {
    name: 'MutiraoError',
    retryable: true,
    field: 'address',
    cause: 'why',
    advice: registry.MUT_UNREACHABLE.advice,
  });
});
