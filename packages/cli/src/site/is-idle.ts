import { MutiraoError } from '@mutirao/api/errors';
import { mutiraoHome } from '@mutirao/runtime/files';
import { userTrust } from '@mutirao/runtime/identity';

/** Whether the provider at an address has neither machines nor requests; false where it gives no answer. */
export async function isIdleAt(address: string, token: string): Promise<boolean> {
  const { dialProvider } = await import('@mutirao/runtime/clients');
  const { client, close } = dialProvider(address, {
    token,
    trust: userTrust(mutiraoHome()),
    deadlineMs: 10_000,
    signal: new AbortController().signal,
  });
  try {
    const { machines, queuedRequests } = await client.getResource();
    return machines === 0 && queuedRequests === 0;
  } catch (error) {
    if (error instanceof MutiraoError) return false;
    throw error;
  } finally {
    close();
  }
}
