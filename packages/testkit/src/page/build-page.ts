import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Where the built page is. */
export const pageFolder = fileURLToPath(new URL('../../../web/dist', import.meta.url));

/** Builds the page unless what is built is newer than all of its sources; a second or two. */
export function buildPageIfStale(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../../web/client/build.mjs', import.meta.url))], {
    stdio: 'inherit',
  });
}
