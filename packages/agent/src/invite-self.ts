import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { GridMachineProviderServiceClient } from '@mutirao/api/provider';
import type { Duration } from '@mutirao/core/shared';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { userTrust } from '@mutirao/runtime/identity';
import { callUnary, dial } from '@mutirao/runtime/rpc';

/** A provider of the agent's own home folder, whose token the agent can read. */
export interface OwnProvider {
  readonly home: string;
  /** Where its owner calls it. */
  readonly address: string;
}

/** The invitation is used at once. */
const validFor: Duration = 600_000;
const deadline: Duration = 10_000;

/** The provider of this name that this home folder has; undefined where it has none, or its token is not there. */
export function findOwnProvider(home: string, providerId: string): OwnProvider | undefined {
  if (!/^[\w.-]{1,64}$/.test(providerId) || !existsSync(tokenPath(home))) return undefined;
  try {
    const { address } = JSON.parse(readFileSync(path.join(home, 'providers', providerId, 'provider.json'), 'utf8')) as {
      readonly address?: unknown;
    };
    return typeof address === 'string' ? { home, address } : undefined;
  } catch {
    return undefined; // It has not run here.
  }
}

/**
 * Asks a provider of the same home folder for an invitation, as its owner would. @throws {MutiraoError}
 * MUT_MACHINE_REMOVED for a name that the owner removed; of the call.
 */
export async function inviteSelf({ home, address }: OwnProvider, name: string, signal: AbortSignal): Promise<string> {
  const client = dial(GridMachineProviderServiceClient, address, {
    token: () => readToken(tokenPath(home)),
    trust: userTrust(home),
  });
  try {
    return (
      await callUnary(
        client,
        'inviteMachine',
        { name, validMs: validFor, unlessRemoved: true },
        { deadlineMs: deadline, signal },
      )
    ).invitation;
  } finally {
    client.close();
  }
}
