import { createPublicKey } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import type { ClaimContents } from '@mutirao/core/messages';
import { openClaimSigner, verifyClaim } from '@mutirao/runtime/claims';
import { temporaryFolder } from '@mutirao/testkit';

const contents: ClaimContents = {
  reservationId: 12,
  resourceId: 'cluster',
  userId: 'ana',
  startsAt: 1_772_366_400_001,
  endsAt: 1_772_370_000_999,
  amount: 5,
  units: [0, 1, 2, 7, 9],
  revision: 3,
};

test('a claim comes back with all that it said, from its own manager and from any holder of the public key', async (t) => {
  const path = join(temporaryFolder(t), 'claim-key.pem');
  const signer = openClaimSigner(path, 'local');
  for (const each of [
    contents,
    { ...contents, units: [] },
    { ...contents, units: [4] },
    { ...contents, units: [3, 4] },
    { ...contents, units: [1, 3, 5, 6] },
  ]) {
    const text = signer.sign(each);
    t.is(await signer.signAside(each), text);
    t.deepEqual(signer.verify(text), { ...each, issuer: 'local' });
    t.deepEqual(
      verifyClaim(text, (keyId) => (keyId === signer.keyId ? createPublicKey(signer.publicKeyPem) : undefined)),
      { ...each, issuer: 'local' },
    );
  }
  t.is(signer.publicKey.length, 32);
});

test('the same contents are the same text, also after a restart', (t) => {
  const path = join(temporaryFolder(t), 'claim-key.pem');
  t.is(openClaimSigner(path, 'local').sign(contents), openClaimSigner(path, 'local').sign(contents));
});

test('to a program that knows JSON web tokens only, a claim is good from the first whole second that is inside, and until the one in which it ends', (t) => {
  const [, payload = ''] = openClaimSigner(join(temporaryFolder(t), 'claim-key.pem'), 'local')
    .sign(contents)
    .split('.');
  t.like(JSON.parse(Buffer.from(payload, 'base64url').toString()), {
    nbf: 1_772_366_401,
    exp: 1_772_370_001,
    jti: '12.3',
    units: '0-2,7,9',
  });
});

test('a claim of another key, with other contents, another algorithm or no form is refused', (t) => {
  const folder = temporaryFolder(t);
  const signer = openClaimSigner(join(folder, 'one.pem'), 'local');
  const other = openClaimSigner(join(folder, 'other.pem'), 'local');
  const [header = '', payload = '', signature = ''] = signer.sign(contents).split('.');
  const [otherHeader = '', otherPayload = '', otherSignature = ''] = other.sign(contents).split('.');
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const texts = [
    other.sign(contents),
    `${header}.${otherPayload}.${otherSignature}`,
    `${otherHeader}.${payload}.${signature}`,
    `${header}.${Buffer.from(Buffer.from(payload, 'base64url').toString().replace('ana', 'bob')).toString('base64url')}.${signature}`,
    `${part({ alg: 'none', kid: signer.keyId })}.${payload}.${signature}`,
    `${part({ alg: 'HS256', kid: signer.keyId })}.${payload}.${signature}`,
    `${part({ alg: 'EdDSA' })}.${payload}.${signature}`,
    `${header}.${payload}.`,
    `${header}.${payload}`,
    '',
    'a.b.c',
    `${header}.${payload}.${signature}.`,
    'x'.repeat(70_000),
  ];
  // Every other last letter, also those that differ in bits of no byte alone.
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/='].filter(
    (letter) => letter !== signature.at(-1),
  );
  texts.push(
    ...letters.map((letter) => `${header}.${payload}.${signature.slice(0, -1)}${letter}`),
    `${header}.${payload}.${signature}=`,
  );
  for (const text of texts) t.is(signer.verify(text), undefined, text.slice(0, 80));
  t.truthy(signer.verify(`${header}.${payload}.${signature}`));
});

test('a key that others may read, or that is of another kind, is refused', (t) => {
  const path = join(temporaryFolder(t), 'claim-key.pem');
  openClaimSigner(path, 'local');
  chmodSync(path, 0o640);
  t.like(
    t.throws(() => openClaimSigner(path, 'local'), { instanceOf: MutiraoError }),
    { code: 'MUT_TOKEN_UNSAFE' },
  );
  chmodSync(path, 0o600);
  writeFileSync(path, 'no key');
  t.like(
    t.throws(() => openClaimSigner(path, 'local'), { instanceOf: MutiraoError }),
    { code: 'MUT_TOKEN_UNSAFE' },
  );
});
