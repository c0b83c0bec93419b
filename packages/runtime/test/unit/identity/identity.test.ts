import { X509Certificate } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import {
  agentTrust,
  authorityKeyPath,
  authorityVariable,
  describeIdentity,
  identityFolder,
  identityPaths,
  initIdentity,
  issueForUser,
  issueIdentity,
  onOneLine,
  revokeSerial,
  RevokedSerials,
  userOfIdentity,
  userTrust,
} from '@mutirao/runtime/identity';
import { temporaryFolder, type WithTeardown } from '@mutirao/testkit';

const day = 24 * 3_600_000;
// The real present: what is read here is checked against this host's clock.
const now = performance.timeOrigin;

async function makeHome(t: WithTeardown): Promise<string> {
  const home = temporaryFolder(t);
  await initIdentity({ folder: identityFolder(home), user: 'ana', hosts: ['grid.example.org'], lasts: day, now });
  return home;
}

test('an identity has an authority, a user and a host, and only its owner can read the keys', async (t) => {
  const folder = identityFolder(await makeHome(t));
  const paths = identityPaths(folder);
  for (const key of [paths.authorityKey, paths.userKey, paths.hostKey]) t.is(statSync(key).mode & 0o777, 0o600, key);
  const authority = new X509Certificate(readFileSync(paths.authorityCertificate));
  t.true(authority.ca);
  for (const path of [paths.userCertificate, paths.hostCertificate]) {
    const certificate = new X509Certificate(readFileSync(path));
    t.true(certificate.verify(authority.publicKey), path);
    t.false(certificate.ca, path);
  }
  const { user, host, hasAuthorityKey } = describeIdentity(folder);
  t.is(userOfIdentity(folder), 'ana');
  t.is(userOfIdentity(join(folder, 'none')), undefined);
  t.true(hasAuthorityKey);
  t.deepEqual(user?.names, ['ana']);
  for (const name of ['localhost', '127.0.0.1', '::1', 'grid.example.org']) t.true(host?.names.includes(name), name);
});

test('made again, it keeps its authority and the names of the host, and has new certificates', async (t) => {
  const folder = identityFolder(await makeHome(t));
  const before = describeIdentity(folder);
  const after = await initIdentity({ folder, user: 'ana', hosts: ['n2'], lasts: 2 * day, now });
  t.is(after.authorityFingerprint, before.authorityFingerprint);
  t.true(after.host?.names.includes('grid.example.org'));
  t.true(after.host?.names.includes('n2'));
  t.not(after.user?.serial, before.user?.serial);
});

test('the key of the authority can be kept elsewhere from the start, or moved there later, and is found by its identity', async (t) => {
  const place = join(temporaryFolder(t), 'safe');
  const folder = identityFolder(temporaryFolder(t));
  const made = await initIdentity({ folder, user: 'ana', hosts: [], authority: place, lasts: day, now });
  t.true(made.hasAuthorityKey);
  t.false(existsSync(identityPaths(folder).authorityKey));
  t.is(statSync(join(place, 'ca.key')).mode & 0o777, 0o600);
  t.is(statSync(place).mode & 0o777, 0o700);
  t.is(
    (await initIdentity({ folder, user: 'ana', hosts: [], lasts: day, now })).authorityFingerprint,
    made.authorityFingerprint,
  );
  t.false(existsSync(identityPaths(folder).authorityKey), 'it stays where it was put');
  await issueIdentity({ folder, out: join(place, 'eva'), hosts: [], user: 'eva', lasts: day, now });

  const later = identityFolder(await makeHome(t));
  const before = describeIdentity(later);
  const moved = await initIdentity({
    folder: later,
    user: 'ana',
    hosts: [],
    authority: join(place, 'later'),
    lasts: day,
    now,
  });
  t.is(moved.authorityFingerprint, before.authorityFingerprint);
  t.is(authorityKeyPath(later), join(place, 'later', 'ca.key'));
  t.false(existsSync(identityPaths(later).authorityKey), 'no copy is left');
  rmSync(join(place, 'later'), { recursive: true });
  t.false(describeIdentity(later).hasAuthorityKey);
  await t.throwsAsync(initIdentity({ folder: later, user: 'ana', hosts: [], lasts: day, now }), {
    code: 'MUT_BAD_CONFIG',
    message: /ca\.key is not there; .*--authority/,
  });
});

test('the key of the authority does not go where it would be no safer, nor over another key', async (t) => {
  const home = await makeHome(t);
  const [folder, place] = [identityFolder(home), join(temporaryFolder(t), 'safe')];
  const init = (authority: string): Promise<unknown> =>
    initIdentity({ folder, user: 'ana', hosts: [], authority, lasts: day, now });
  for (const inside of [home, join(home, 'safe'), folder])
    await t.throwsAsync(init(inside), { code: 'MUT_BAD_REQUEST', message: /outside of the home folder/ });
  await t.throwsAsync(init('safe'), { code: 'MUT_BAD_REQUEST', message: /absolute path/ });
  mkdirSync(place);
  writeFileSync(join(place, 'ca.key'), 'another one');
  await t.throwsAsync(init(place), { code: 'MUT_BAD_REQUEST', message: /another authority/ });
  t.is(readFileSync(join(place, 'ca.key'), 'utf8'), 'another one');
  t.true(describeIdentity(folder).hasAuthorityKey);
});

test('names that no certificate can hold are refused, and nothing is written', async (t) => {
  const folder = identityFolder(temporaryFolder(t));
  for (const host of ['', 'a b', 'host:80', 'https://host', '-x', `${'a'.repeat(64)}.org`, 'a..b', '*']) {
    await t.throwsAsync(
      initIdentity({ folder, user: 'ana', hosts: [host], lasts: day, now }),
      { code: 'MUT_BAD_REQUEST' },
      host,
    );
  }
  for (const user of ['', 'a b', 'a/b', 'a\nb', 'x'.repeat(65)]) {
    await t.throwsAsync(
      initIdentity({ folder, user, hosts: [], lasts: day, now }),
      { code: 'MUT_BAD_REQUEST' },
      JSON.stringify(user),
    );
  }
  t.throws(() => describeIdentity(folder), { code: 'MUT_BAD_CONFIG', message: /mutirao init/ });
});

test('what is issued for a host holds no user and no key of the authority', async (t) => {
  const home = await makeHome(t);
  const out = join(temporaryFolder(t), 'login1');
  const made = await issueIdentity({
    folder: identityFolder(home),
    out,
    hosts: ['login1'],
    user: undefined,
    lasts: day,
    now,
  });
  t.like(made, { hasAuthorityKey: false, user: undefined });
  t.deepEqual(made.host?.names, ['login1', 'localhost', '127.0.0.1', '::1']);
  await t.throwsAsync(
    issueIdentity({ folder: out, out: join(out, 'x'), hosts: ['n1'], user: undefined, lasts: day, now }),
    { code: 'MUT_BAD_CONFIG', message: /ca\.key is not there/ },
  );
});

test('certificates are not issued for nobody, nor into the folder of an authority', async (t) => {
  const home = await makeHome(t);
  const folder = identityFolder(home);
  await t.throwsAsync(issueIdentity({ folder, out: join(home, 'x'), hosts: [], user: undefined, lasts: day, now }), {
    code: 'MUT_BAD_REQUEST',
  });
  await t.throwsAsync(issueIdentity({ folder, out: folder, hosts: [], user: 'maria', lasts: day, now }), {
    code: 'MUT_BAD_REQUEST',
    message: /authority of its own/,
  });
});

test('a certificate ends no later than its authority', async (t) => {
  const folder = identityFolder(await makeHome(t));
  const { authorityCertificate, authorityKey } = identityPaths(folder);
  const authority = {
    certificate: readFileSync(authorityCertificate, 'utf8'),
    key: readFileSync(authorityKey, 'utf8'),
  };
  const { certificate } = await issueForUser(authority, 'ana', { now, lasts: 100 * 365 * day });
  t.is(new X509Certificate(certificate).validTo, new X509Certificate(authority.certificate).validTo);
});

test('a user trusts her authority and shows her certificate; what is wrong with them is said', async (t) => {
  const home = await makeHome(t);
  const paths = identityPaths(identityFolder(home));
  const { authority, user } = userTrust(home, {})();
  t.is(authority, readFileSync(paths.authorityCertificate, 'utf8'));
  t.is(user?.certificate, readFileSync(paths.userCertificate, 'utf8'));
  chmodSync(paths.userKey, 0o644);
  t.throws(userTrust(home, {}), { code: 'MUT_TOKEN_UNSAFE', message: /user\.key has mode 644; expected 600/ });
  writeFileSync(paths.userKey, 'nonsense');
  chmodSync(paths.userKey, 0o600);
  t.throws(userTrust(home, {}), { code: 'MUT_BAD_CONFIG', message: /user\.key is not the key of/ });
  writeFileSync(paths.userCertificate, 'nonsense');
  t.throws(userTrust(home, {}), { code: 'MUT_BAD_CONFIG', message: /user\.crt holds no certificate/ });
  rmSync(paths.userCertificate);
  t.throws(userTrust(home, {}), { code: 'MUT_BAD_CONFIG', message: /user\.crt is not there; .*mutirao init/ });
});

test("an expired certificate of one's own is seen before it is shown", async (t) => {
  const home = temporaryFolder(t);
  await initIdentity({ folder: identityFolder(home), user: 'ana', hosts: [], lasts: day, now: now - 3 * day });
  t.throws(userTrust(home, {}), { code: 'MUT_BAD_CONFIG', message: /user\.crt has expired on .*mutirao init/ });
});

test('an agent takes its authority from the environment: a file, PEM text, or one line', async (t) => {
  const home = await makeHome(t);
  const path = identityPaths(identityFolder(home)).authorityCertificate;
  const text = readFileSync(path, 'utf8');
  const elsewhere = temporaryFolder(t);
  for (const given of [path, text, onOneLine(text)]) {
    const { authority, user } = agentTrust(elsewhere, { [authorityVariable]: given })();
    t.is(new X509Certificate(authority).fingerprint256, new X509Certificate(text).fingerprint256);
    t.is(user, undefined);
  }
  t.notRegex(onOneLine(text), /[\s,]/);
  t.throws(agentTrust(elsewhere, {}), { code: 'MUT_BAD_CONFIG', message: /MUTIRAO_CA/ });
  t.throws(agentTrust(elsewhere, { [authorityVariable]: '/nowhere/ca.crt' }), {
    code: 'MUT_BAD_CONFIG',
    message: /\/nowhere\/ca\.crt is not there/,
  });
  t.throws(agentTrust(elsewhere, { [authorityVariable]: `MII${'A'.repeat(200)}` }), {
    code: 'MUT_BAD_CONFIG',
    message: /MUTIRAO_CA holds no certificate/,
  });
});

test('revoked serial numbers are listed once, however they are written, and read again', (t) => {
  const folder = temporaryFolder(t);
  const revoked = new RevokedSerials(folder);
  t.false(revoked.has('0aff'));
  revokeSerial(folder, '0A:FF', 'CN=maria\nof old');
  revokeSerial(folder, '0aff', 'again');
  t.false(revoked.has('0AFF'), 'not read yet');
  revoked.refresh();
  t.true(revoked.has('0AFF'));
  t.is(readFileSync(identityPaths(folder).revoked, 'utf8'), '0aff # CN=maria of old\n');
  t.throws(
    () => {
      revokeSerial(folder, 'maria', '');
    },
    { code: 'MUT_BAD_REQUEST' },
  );
});
