import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { temporaryFolder } from '@mutirao/testkit';
import test from 'ava';
import { readPacked } from '../../../src/simulation/read-file.ts';

test('a file is read gzipped or not, and the error of an unreadable one names it as the user did', (t) => {
  const folder = temporaryFolder(t);
  const put = (name: string, bytes: Uint8Array): string => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  const packed = gzipSync('some words');
  t.is(readPacked('plain', put('plain', Buffer.from('some words'))).toString(), 'some words');
  t.is(readPacked('packed', put('packed', packed)).toString(), 'some words');
  t.is(readPacked('empty', put('empty', Buffer.alloc(0))).length, 0);
  const broken = put('broken', packed.subarray(0, 15));
  t.throws(() => readPacked('broken', broken), {
    code: 'MUT_BAD_REQUEST',
    message: /^broken begins as a gzip file and is none: /,
  });
  t.throws(() => readPacked('broken', broken, 'MUT_SWF_SYNTAX'), { code: 'MUT_SWF_SYNTAX' });
  t.throws(() => readPacked('none', join(folder, 'none')), {
    code: 'MUT_FILE_NOT_FOUND',
    message: 'there is no file none',
  });
  t.throws(() => readPacked('folder', folder, 'MUT_SWF_SYNTAX'), {
    code: 'MUT_BAD_REQUEST',
    message: /^cannot read folder: /,
  });
});
