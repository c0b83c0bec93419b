// What cannot be made a site, behind a real sshd.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { SiteWorld, temporaryFolder } from '@mutirao/testkit';

test.serial('a host that cannot be a site is refused in its own words, and nothing is left of it', async (t) => {
  const world = await SiteWorld.start(t);
  const { host } = world;
  const refused = async (pattern: RegExp, ...words: string[]): Promise<void> => {
    const { status, err } = await world.add('bad', ...words);
    t.not(status, 0, words.join(' '));
    t.regex(err, pattern);
    t.deepEqual(
      [existsSync(join(world.grid.home, 'sites', 'bad')), existsSync(join(host.home, '.mutirao'))],
      [false, false],
      err,
    );
  };
  await refused(
    /MUT_SSH_DENIED ssh foreign: .*Permission denied \(publickey\)/,
    '--ssh',
    'foreign',
    '--manager',
    'none',
  );
  await refused(
    /MUT_SSH_HOST_KEY .*Host key verification failed/,
    '--ssh',
    'front',
    '--manager',
    'none',
    '--ssh-option',
    'UserKnownHostsFile=/dev/null',
  );
  await refused(
    /MUT_BAD_CONFIG .*unknown option '--heuristc'/,
    '--ssh',
    'front',
    '--manager',
    'none',
    '--',
    '--heuristc',
    'static',
  );
  await refused(
    /MUT_BAD_CONFIG .*frobnicate: not found/,
    '--ssh',
    'front',
    '--manager',
    'none',
    '--setup',
    'frobnicate now',
  );
  const strange = join(temporaryFolder(t), 'strange');
  writeFileSync(
    strange,
    Buffer.from(readFileSync('/bin/true').toString('latin1').replace('/lib64/ld-linux', '/lib64/ld-nowhe'), 'latin1'),
  );
  await refused(
    /MUT_SITE_UNSUPPORTED_HOST front cannot run the executable: .*not found/,
    '--ssh',
    'front',
    '--manager',
    'none',
    '--program',
    strange,
  );
});

test.serial('a full disk there, and a name that another home folder took there, are reported', async (t) => {
  const fake = temporaryFolder(t);
  const world = await SiteWorld.start(t, { PATH: `${fake}:/usr/bin:/bin` });
  writeFileSync(join(fake, 'gzip'), '#!/bin/sh\necho "gzip: stdout: No space left on device" >&2\nexit 1\n', {
    mode: 0o755,
  });
  const full = await world.add('uni', '--ssh', 'front', '--manager', 'none');
  t.regex(full.err, /MUT_DISK_FULL the executable cannot be put on front: gzip: stdout: No space left on device/);
  const front = join(world.host.home, '.mutirao', 'front', 'uni');
  mkdirSync(front, { recursive: true });
  writeFileSync(join(front, 'owner'), '0123456789abcdef ana@elsewhere:/home/ana/.mutirao\n');
  const taken = await world.add('uni', '--ssh', 'front', '--manager', 'none');
  t.regex(
    taken.err,
    /MUT_SITE_EXISTS front has a site "uni" of another home folder \(ana@elsewhere:\/home\/ana\/\.mutirao\)/,
  );
  t.true(existsSync(front), "what is another's is left");
});
