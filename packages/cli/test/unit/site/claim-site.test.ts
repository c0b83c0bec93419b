import test from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { claimSite } from '../../../src/site/claim-site.ts';

test('a site is kept by one process at a time, another site or another home folder by another', async (t) => {
  const [home, other] = [temporaryFolder(t), temporaryFolder(t)];
  await claimSite(home, 'uni');
  await t.throwsAsync(claimSite(home, 'uni'), {
    code: 'MUT_ALREADY_RUNNING',
    message: /another process keeps the connection to uni/,
  });
  await t.notThrowsAsync(claimSite(home, 'lab'));
  await t.notThrowsAsync(claimSite(other, 'uni'));
});
