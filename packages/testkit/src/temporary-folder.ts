import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a folder needs of the test's `t`. */
export interface WithTeardown {
  teardown(clean: () => void): void;
}

/** Makes an empty folder for one test and removes it, with all that is in it, when the test is over. */
export function temporaryFolder(t: WithTeardown): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'mutirao-test-')));
  t.teardown(() => {
    // A test may have made it read-only, which only root can remove.
    if (existsSync(path)) chmodSync(path, 0o700);
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}
