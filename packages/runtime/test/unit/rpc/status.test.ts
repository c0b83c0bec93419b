import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { errorOfRefusal, MutiraoError, registry, type ErrorCode } from '@mutirao/api/errors';
import { InvariantError } from '@mutirao/core/shared';
import { fromStatus, toMutiraoError, toStatus, unary, parseLoopbackAddress, acceptToken } from '@mutirao/runtime/rpc';
import { inject } from '@mutirao/testkit';
import test from 'ava';

const foreign = (code: status, details: string, metadata = new Metadata()): ServiceError =>
  Object.assign(new Error(details), { code, details, metadata });

test('every code of the registry survives the way there and back', (t) => {
  for (const code of Object.keys(registry) as ErrorCode[]) {
    const sent = toStatus(new MutiraoError(code, `about ${code}`, { field: 'a.b' }));
    t.is(status[sent.code], registry[code].status);
    t.like(fromStatus(foreign(sent.code, sent.details, sent.metadata)), {
      code,
      message: `about ${code}`,
      field: 'a.b',
    });
  }
});

test('why something is refused comes over the wire as a code with parameters, and as the message', (t) => {
  const fault = { code: 'job-tasks-too-many', tasks: 9, tasksMax: 7 } as const;
  const sent = toStatus(errorOfRefusal({ code: 'MUT_BAD_REQUEST', fault }));
  const read = fromStatus(foreign(sent.code, sent.details, sent.metadata));
  t.is(read.message, 'the job has 9 tasks; expected at most 7');
  t.deepEqual(read.reason, fault);
  const plain = toStatus(new MutiraoError('MUT_BAD_REQUEST', 'x'));
  t.is(fromStatus(foreign(plain.code, plain.details, plain.metadata)).reason, undefined);
});

test('the status of a foreign server becomes the nearest code', (t) => {
  t.is(fromStatus(foreign(status.UNAVAILABLE, 'No connection established')).code, 'MUT_UNREACHABLE');
  t.is(fromStatus(foreign(status.INTERNAL, 'Received RST_STREAM with code 2')).code, 'MUT_UNREACHABLE');
  t.is(fromStatus(foreign(status.INTERNAL, 'Response message parsing error: x')).code, 'MUT_PROTOCOL');
  t.is(fromStatus(foreign(status.DATA_LOSS, 'x')).code, 'MUT_INTERNAL');
});

test('of a connection that was not made only the cause is said', (t) => {
  const refused =
    'No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:38475. Resolution note:';
  t.is(
    fromStatus(foreign(status.UNAVAILABLE, refused)).message,
    'cannot connect: connect ECONNREFUSED 127.0.0.1:38475',
  );
  t.is(fromStatus(foreign(status.UNAVAILABLE, 'Connection dropped')).message, 'Connection dropped');
});

test('details that make no sense are left aside', (t) => {
  const metadata = new Metadata();
  metadata.set('grpc-status-details-bin', Buffer.from([0x1a, 0xff]));
  t.like(fromStatus(foreign(status.CANCELLED, 'gone', metadata)), { code: 'MUT_CANCELLED', message: 'gone' });
});

test('an unknown error is reported as an internal one, and a bug is thrown on', (t) => {
  const cause = new TypeError('x is undefined');
  t.like(toMutiraoError(cause), { code: 'MUT_INTERNAL', message: 'x is undefined', cause });
  t.throws(() => toMutiraoError(new InvariantError('broken')), { instanceOf: InvariantError });
});

test('a unary route decodes, handles and encodes', async (t) => {
  const route = unary<{ digits: string }, number, number, { digits: string }>({
    decode: ({ digits }) => {
      if (digits === '') throw new MutiraoError('MUT_BAD_REQUEST', 'digits is empty');
      return Number(digits);
    },
    handle: (number, { userId }) => number + userId.length,
    encode: (number) => ({ digits: String(number) }),
  });
  t.deepEqual(await inject(route, { digits: '4' }, { userId: 'maria' }), { digits: '9' });
  await t.throwsAsync(inject(route, { digits: '' }), { code: 'MUT_BAD_REQUEST' });
});

test('an address is a host and a port', (t) => {
  t.deepEqual(parseLoopbackAddress('[::1]:80'), { host: '::1', port: 80, isTls: true });
  for (const text of ['', '127.0.0.1', ':80', '127.0.0.1:65536', 'host:x'])
    t.throws(() => parseLoopbackAddress(text), { code: 'MUT_BAD_CONFIG' }, text);
});

test('only loopback addresses are listened on', (t) => {
  for (const text of ['127.0.0.1:0', '127.8.8.8:1', 'localhost:1', '[::1]:1'])
    t.notThrows(() => parseLoopbackAddress(text), text);
  for (const text of ['0.0.0.0:0', '10.0.0.1:1', '[::]:1', 'example.org:1', '127.0.0.1.example.org:1']) {
    t.throws(() => parseLoopbackAddress(text), { code: 'MUT_LOOPBACK_ONLY' }, text);
  }
});

test('a token is accepted only as it is', (t) => {
  const check = acceptToken('secret', 'ana');
  t.is(check('secret'), 'ana');
  for (const wrong of ['', 'Secret', 'secret ', 'secre']) t.is(check(wrong), undefined);
});
