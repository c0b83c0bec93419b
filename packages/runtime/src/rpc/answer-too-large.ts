import { MutiraoError } from '@mutirao/api/errors';
import type { Bytes } from '@mutirao/core/shared';

/**
 * The error for an answer that is larger than the server sends, which names what is large in it. @param path of the
 * call.
 */
export async function answerTooLarge(path: string, answer: Uint8Array, bytesMax: Bytes): Promise<MutiraoError> {
  // Loaded here: it takes some milliseconds, and hardly any process ever needs it.
  const { largestField, ProtoFiles } = await import('@mutirao/api/proto-files');
  const [, service = '', method = ''] = path.split('/');
  const output = new ProtoFiles().registry.getService(service)?.methods.find(({ name }) => name === method)?.output;
  const { name, bytes } = output === undefined ? { name: '', bytes: 0 } : largestField(answer, output);
  const what = name === '' ? '' : `, ${mebibytes(bytes)} of it ${name}`;
  return new MutiraoError(
    'MUT_ANSWER_TOO_LARGE',
    `the answer of ${method} takes ${mebibytes(answer.length)}${what}; this server sends ${mebibytes(bytesMax)} ` +
      'at most',
  );
}

function mebibytes(bytes: Bytes): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
