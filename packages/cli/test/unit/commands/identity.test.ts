import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { runCommandLine, temporaryFolder } from '@mutirao/testkit';
import { shapes } from '../../../src/json/shapes.ts';

/** Runs a command in a home and returns its document, after comparing its fields with those that are documented. */
async function runJson(
  t: ExecutionContext,
  home: string,
  words: readonly string[],
  shape: 'identity' | 'revoked' = 'identity',
): Promise<Record<string, unknown>> {
  const { status, out, err } = await runCommandLine([...words, '--json'], { home, directory: home });
  t.is(status, 0, err);
  const document = JSON.parse(out) as Record<string, unknown>;
  t.deepEqual(Object.keys(document), Object.keys(shapes[shape]));
  return document;
}

test('init makes an identity, which show shows', async (t) => {
  const home = temporaryFolder(t);
  const made = await runJson(t, home, ['init', '--host', 'grid.example.org']);
  t.like(made, { folder: join(home, 'identity'), signs: true });
  t.true((made['hosts'] as string[]).includes('grid.example.org'));
  t.deepEqual(await runJson(t, home, ['identity', 'show']), made);
});

test('issue makes a folder for another host and user, without the key of the authority', async (t) => {
  const home = temporaryFolder(t);
  const own = await runJson(t, home, ['init']);
  const made = await runJson(t, home, [
    'identity',
    'issue',
    '--for',
    'login1',
    '10.0.0.5',
    '--user',
    'maria',
    '--out',
    'login1',
  ]);
  t.like(made, {
    folder: join(home, 'login1'),
    signs: false,
    user_id: 'maria',
    authority_sha256: own['authority_sha256'],
  });
  t.deepEqual(made['hosts'], ['login1', '10.0.0.5', 'localhost', '127.0.0.1', '::1']);
  t.false(existsSync(join(home, 'login1', 'ca.key')));
});

test('revoke takes a file or a serial number', async (t) => {
  const home = temporaryFolder(t);
  await runJson(t, home, ['init']);
  const { user_serial: serial } = await runJson(t, home, ['identity', 'issue', '--user', 'maria', '--out', 'maria']);
  t.is((await runJson(t, home, ['identity', 'revoke', 'maria/user.crt'], 'revoked'))['serial'], serial);
  await runJson(t, home, ['identity', 'revoke', '0a1b'], 'revoked');
  t.is(readFileSync(join(home, 'identity', 'revoked'), 'utf8'), `${String(serial)} # CN=maria\n0a1b # \n`);
});

test('impossible requests are refused with the reason', async (t) => {
  const home = temporaryFolder(t);
  const refuse = async (words: readonly string[], reason: RegExp): Promise<void> => {
    const { status, err } = await runCommandLine(words, { home, directory: home });
    t.is(status, 2, words.join(' '));
    t.regex(err, reason);
  };
  await refuse(['identity', 'show'], /ca\.crt is not there; make an identity with "mutirao init"/);
  await refuse(['identity', 'issue', '--user', 'maria', '--out', 'x'], /ca\.crt is not there/);
  await refuse(['identity', 'revoke', '0a1b'], /there is no identity/);
  await refuse(['init', '--host', 'a b'], /host is "a b"; expected a name or an IP address/);
  await refuse(['init', '--days', '0'], /--days is "0"; expected an integer in 1\.\.3650/);
  await runJson(t, home, ['init']);
  await refuse(['identity', 'issue', '--out', 'x'], /expected --for HOST, --user NAME or both/);
  await refuse(['identity', 'issue', '--user', 'maria', '--out', 'identity'], /holds an authority of its own/);
  await refuse(['identity', 'revoke', 'maria'], /serial is "maria"/);
});
