import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the published .proto files, whatever the working directory. */
export const protoFolder: string = fileURLToPath(new URL('../../../proto', import.meta.url));

/** The published .proto files, relative to `protoFolder`, sorted. */
export function protoFiles(): string[] {
  return readdirSync(protoFolder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.startsWith('mutirao') && name.endsWith('.proto'))
    .sort();
}
