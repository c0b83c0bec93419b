/**
 * Writes the pages, and parts of pages, of docs that are tables of the programs, and the enum of
 * proto/mutirao/common/v1/errors.proto.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { errorsMarkdown, errorsProto, faultsMarkdown, limitsMarkdown, securityMarkdown } from './errors-rendering.ts';

const root = new URL('..', import.meta.url);
const protoPath = fileURLToPath(new URL('proto/mutirao/common/v1/errors.proto', root));
const faultsPath = fileURLToPath(new URL('docs/guides/troubleshooting.md', root));
const limitsPath = fileURLToPath(new URL('docs/reference/configuration.md', root));
const securityPath = fileURLToPath(new URL('docs/reference/security.md', root));
const docsPath = fileURLToPath(new URL('docs/reference/errors.md', root));

/** The file's text; empty where there is none yet. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

writeFileSync(protoPath, errorsProto(readIfThere(protoPath)));
writeFileSync(docsPath, errorsMarkdown());
writeFileSync(faultsPath, faultsMarkdown(readFileSync(faultsPath, 'utf8')));
writeFileSync(limitsPath, limitsMarkdown(readFileSync(limitsPath, 'utf8')));
writeFileSync(securityPath, securityMarkdown(readFileSync(securityPath, 'utf8')));
