/**
 * Takes four costs out of what ts-proto generates, each of them on the way of every task; the bytes on the wire stay the same.
 *
 * An empty Buffer made per absent `bytes` field becomes a shared one; the copy of each encoded message and of each decoded
 * `bytes` field becomes a view; a 64-bit number is no longer written out in decimal to be read back.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

const folder = fileURLToPath(new URL('../packages/api/src/generated/', import.meta.url));
const replacements: readonly (readonly [RegExp, string])[] = [
  [/\bBuffer\.alloc\(0\)/g, 'noBytes'],
  [/\bBuffer\.from\((\w+\.encode\(value\)\.finish\(\))\)/g, 'asBuffer($1)'],
  [/\bBuffer\.from\((reader\.bytes\(\))\)/g, 'asBuffer($1)'],
  [/globalThis\.Number\(int64\.toString\(\)\)/g, 'globalThis.Number(int64)'],
];

for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))) {
  const path = join(folder, name);
  const generated = readFileSync(path, 'utf8');
  const tightened = replacements.reduce(
    (code, [pattern, replacement]) => code.replace(pattern, replacement),
    generated,
  );
  const names = ['asBuffer', 'noBytes'].filter((helper) => tightened.includes(helper));
  const up = '../'.repeat(name.split('/').length);
  const added = names.length === 0 ? '' : `import { ${names.join(', ')} } from "${up}wire/bytes.ts";\n`;
  writeFileSync(path, tightened.replace('/* eslint-disable */\n', `/* eslint-disable */\n${added}`));
}
