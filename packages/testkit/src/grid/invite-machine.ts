import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GridMachineProviderServiceClient } from '@mutirao/api/provider';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { userTrust } from '@mutirao/runtime/identity';
import { callUnary, dial } from '@mutirao/runtime/rpc';

/**
 * Invites a machine to a provider of a home folder, as the owner does. @param validMs 0 for the provider's choice.
 * @returns the one-time secret.
 */
export async function inviteMachine(home: string, providerId: string, name: string, validMs = 0): Promise<string> {
  return withProvider(
    home,
    providerId,
    async (client) =>
      (await callUnary(client, 'inviteMachine', { name, validMs, unlessRemoved: false }, { deadlineMs: 60_000 }))
        .invitation,
  );
}

/** Withdraws the credential of a machine, as the owner does. */
export async function removeMachine(home: string, providerId: string, name: string): Promise<void> {
  await withProvider(home, providerId, (client) =>
    callUnary(client, 'removeMachine', { name }, { deadlineMs: 60_000 }),
  );
}

async function withProvider<T>(
  home: string,
  providerId: string,
  act: (client: GridMachineProviderServiceClient) => Promise<T>,
): Promise<T> {
  const { address } = JSON.parse(readFileSync(join(home, 'providers', providerId, 'provider.json'), 'utf8')) as {
    readonly address: string;
  };
  const client = dial(GridMachineProviderServiceClient, address, {
    token: () => readToken(tokenPath(home)),
    trust: userTrust(home, {}),
  });
  try {
    return await act(client);
  } finally {
    client.close();
  }
}
