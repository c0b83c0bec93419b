/** Writes docs/errors.md, docs/faults.md, docs/limits.md and the enum of proto/mutirao/common/v1/errors.proto from the error registry. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { errorsMarkdown, errorsProto, faultsMarkdown, limitsMarkdown } from './errors-rendering.ts';

const root = new URL('..', import.meta.url);
const protoPath = fileURLToPath(new URL('proto/mutirao/common/v1/errors.proto', root));
const faultsPath = fileURLToPath(new URL('docs/faults.md', root));
const limitsPath = fileURLToPath(new URL('docs/limits.md', root));
const docsPath = fileURLToPath(new URL('docs/errors.md', root));

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
writeFileSync(faultsPath, faultsMarkdown());
writeFileSync(limitsPath, limitsMarkdown());
