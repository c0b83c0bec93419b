import test from 'ava';

import { MutiraoError } from '@mutirao/api/errors';

import { findNatsOptions } from '../../../src/events/nats-options.ts';

const config = {
  nats: 'nats://127.0.0.1:4222',
  natsCredentials: '',
  natsCa: '',
  natsCertificate: '',
  natsKey: '',
  natsStream: 'MUTIRAO_EVENTS',
  natsAge: 60_000,
  natsBytes: 2 ** 30,
};

test('without an URL nothing is published, and with one all goes where it says', (t) => {
  t.is(findNatsOptions({ ...config, nats: '' }, 'ana'), undefined);
  t.deepEqual(findNatsOptions(config, 'ana'), {
    url: 'nats://127.0.0.1:4222',
    credentialsPath: '',
    authorityPath: '',
    certificatePath: '',
    keyPath: '',
    stream: 'MUTIRAO_EVENTS',
    ageMax: 60_000,
    bytesMax: 2 ** 30,
    name: 'ana',
  });
  t.is(findNatsOptions({ ...config, nats: 'tls://a:4222,tls://b' }, 'ana')?.url, 'tls://a:4222,tls://b');
});

for (const [wrong, message] of [
  [{ nats: 'http://a:4222' }, /--nats is "http:\/\/a:4222"; expected nats:/],
  [{ nats: 'nats://ana:secret@a:4222' }, /--nats is/],
  [{ nats: 'nats://a,' }, /--nats is/],
  [{ nats: 'tls://a,nats://b' }, /all the same/],
  [{ natsStream: 'a.b' }, /--nats-stream is "a.b"/],
  [{ natsStream: '' }, /--nats-stream/],
  [{ natsCa: '/dev/null' }, /--nats-ca is "\/dev\/null"; expected it only with --nats tls:/],
  [{ nats: 'tls://a', natsCa: '/nowhere/ca.crt' }, /--nats-ca is .*expected a file that is there/],
  [{ nats: 'tls://a', natsCertificate: '/dev/null' }, /--nats-key is ""; expected it together/],
  [{ natsAge: 999 }, /--nats-age is "999ms"/],
  [{ natsBytes: 1000 }, /--nats-bytes is "1000"/],
] as const) {
  test(`refused, with what is wanted: ${JSON.stringify(wrong)}`, (t) => {
    const error = t.throws(() => findNatsOptions({ ...config, ...wrong }, 'ana'), {
      instanceOf: MutiraoError,
      message,
    });
    t.is(error.code, 'MUT_BAD_CONFIG');
  });
}
