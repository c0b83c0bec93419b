import {
  decodeTraceLine,
  decodeValue,
  encodeTraceLine,
  encodeValue,
  findTraceVersion,
} from '@mutirao/core/debugging-trace';
import test from 'ava';

test('bytes are written in base64', (t) => {
  for (const text of ['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar', '\u00ff\u00fe~?>']) {
    const bytes = new Uint8Array(Buffer.from(text, 'latin1'));
    t.is(encodeValue(bytes), `{"$":"bytes","base64":"${Buffer.from(bytes).toString('base64')}"}`);
  }
});

test('a buffer is written as the bytes that it is, and a long one does not overflow the stack', (t) => {
  const bytes = Buffer.alloc(3_000_001, 'mutirao');
  t.true(bytes.equals(decodeValue(JSON.parse(encodeValue(bytes))) as Uint8Array));
});

test('a batch of ten thousand messages is one line', (t) => {
  const inputs = Array.from({ length: 10_000 }, (_, index) => ({
    kind: 'ProcessEnded',
    replicaId: index,
    verdict: undefined,
    output: new Uint8Array([index & 255]),
  }));
  const text = encodeTraceLine({ kind: 'inputs', turn: 3, now: 99, inputs });
  t.is(text.indexOf('\n'), text.length - 1);
  t.deepEqual(decodeTraceLine(text.trimEnd()), { kind: 'inputs', turn: 3, now: 99, inputs });
});

test('the credential of an allocation is withheld wherever it stands', (t) => {
  const text = encodeValue([
    { environment: { MUTIRAO_CREDENTIAL: 'secret', OTHER: 'told' } },
    new Map([['a', { MUTIRAO_CREDENTIAL: 'secret' }]]),
  ]);
  t.false(text.includes('secret'));
  t.true(text.includes('told'));
  const tagged = encodeValue({ $: 1, MUTIRAO_CREDENTIAL: 'secret' });
  t.false(tagged.includes('secret'));
});

test('what has no form in a trace is refused', (t) => {
  t.throws(() => encodeValue({ run: () => 1 }), {
    instanceOf: TypeError,
    message: 'trace: cannot hold function',
  });
  t.throws(() => encodeValue(1n), { instanceOf: TypeError });
});

const noLines = [
  '',
  '{',
  'null',
  '7',
  '[]',
  '{}',
  '{"turn":0,"now":1,"inputs":[]}',
  '{"turn":1.5,"now":1,"inputs":[]}',
  '{"turn":1,"inputs":[]}',
  '{"turn":1,"now":1,"inputs":[7]}',
  '{"turn":1,"now":1,"inputs":[{"no":"kind"}]}',
  '{"turn":1,"changes":[]}',
  '{"turn":1,"now":1,"inputs":[{"kind":"x","of":{"$":"what"}}]}',
  '{"turn":1,"now":1,"inputs":[{"kind":"x","of":{"$":"bytes","base64":"a"}}]}',
  '{"turn":1,"now":1,"inputs":[{"kind":"x","of":{"$":"map","entries":[[1]]}}]}',
  '{"turn":1,"now":1,"inputs":[{"kind":"x","of":{"$":"number","text":"7"}}]}',
  '{"turn":1,"now":1,"inputs":[{"kind":"x","of":{"$":"set"}}]}',
  '{"trace":"other","version":1,"machine":"broker","release":"1","at":1}',
  '{"trace":"mutirao","version":1,"machine":"toaster","release":"1","at":1}',
  '{"end":7}',
];

for (const text of noLines)
  test(`${JSON.stringify(text)} is not a line of a trace`, (t) => {
    t.is(decodeTraceLine(text), undefined);
  });

test('the version of a trace is found whatever else its head holds', (t) => {
  t.is(findTraceVersion('{"trace":"mutirao","version":9,"state":{"$":"new"}}'), 9);
  t.is(findTraceVersion('{"trace":"mutirao","version":"9"}'), undefined);
  t.is(findTraceVersion('not json'), undefined);
  t.is(decodeTraceLine('{"trace":"mutirao","version":9,"machine":"broker","release":"1","at":1}'), undefined);
});
