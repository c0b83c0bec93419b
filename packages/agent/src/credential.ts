import { closeSync, existsSync, readFileSync, readSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MutiraoError } from '@mutirao/api/errors';
import type { MachineFacts } from '@mutirao/core/messages';
import type { Duration } from '@mutirao/core/shared';
import { ensureToken, makeToken, readToken } from '@mutirao/runtime/files';
import type { Logger } from '@mutirao/runtime/log';
import { findOwnProvider, inviteSelf, type OwnProvider } from './invite-self.ts';

/** Where an agent finds the credential that it was given. */
export interface GivenOptions {
  /** A file that is removed once it was read, or `-` for standard input; empty for neither. */
  readonly invitation: string;
  /** A file that stays; empty for none. */
  readonly credentialFile: string;
}

/** Whose credential is wanted, and where its files are. */
export interface CredentialPlace {
  readonly home: string;
  readonly facts: Pick<MachineFacts, 'machineId' | 'requestId'>;
  /** Empty if the machine's name contains it. */
  readonly providerId: string;
  /** How long a provider of the same home folder is waited for. */
  readonly patience: Duration;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const variable = 'MUTIRAO_CREDENTIAL';
const retryPause: Duration = 500;
/** More than any invitation has. */
const lineBytesMax = 4096;

/**
 * Reads the credential of an allocation or the invitation that the agent was given, and takes it out of the
 * environment.
 *
 * @returns empty when it was given none. @throws {MutiraoError} MUT_TOKEN_UNSAFE for a file that others may read.
 */
export function readGiven(
  { invitation, credentialFile }: GivenOptions,
  environment: Record<string, string | undefined>,
): string {
  const inEnvironment = takeFromEnvironment(environment);
  if (inEnvironment !== '') return inEnvironment;
  if (invitation === '-') return readLine();
  if (invitation !== '' && existsSync(invitation)) {
    const given = readToken(invitation);
    rmSync(invitation, { force: true });
    return given;
  }
  return credentialFile === '' ? '' : readToken(credentialFile);
}

/** From the variable, or from the descriptor at which `hideVariable` left its value. Empty where there is neither. */
function takeFromEnvironment(environment: Record<string, string | undefined>): string {
  const [value = '', descriptorText = ''] = [environment[variable], environment[`${variable}_FD`]];
  for (const name of [variable, `${variable}_FD`]) Reflect.deleteProperty(environment, name);
  const descriptor = Number(descriptorText);
  if (!Number.isSafeInteger(descriptor) || descriptor < 3) return value.trim();
  const given = readFileSync(descriptor, 'utf8').trim();
  closeSync(descriptor);
  return given;
}

/** The first line of standard input; a user who types or pastes it need not end the input. */
function readLine(): string {
  const bytes = Buffer.alloc(lineBytesMax);
  let length = 0;
  while (length < bytes.length && !bytes.subarray(0, length).includes('\n')) {
    const count = readSync(0, bytes, length, bytes.length - length, null);
    if (count === 0) break;
    length += count;
  }
  return (bytes.subarray(0, length).toString('utf8').split('\n')[0] ?? '').trim();
}

/**
 * What the agent shows its provider: what it was given, and a secret of its own after it.
 *
 * A machine's secret is its credential once the invitation was used. It is stored in `credentials` of the home folder,
 * not in the agent's folder with the playpens. The secret of an allocation serves this process alone and is in no file.
 *
 * @throws {MutiraoError} MUT_BAD_CONFIG, MUT_UNAUTHENTICATED where there is neither an invitation nor a credential; of
 * the call that invites it.
 */
export async function makeCredential(given: string, place: CredentialPlace): Promise<string> {
  const {
    home,
    facts: { machineId, requestId },
  } = place;
  if (requestId !== '') {
    if (given === '')
      throw new MutiraoError(
        'MUT_BAD_CONFIG',
        `${variable} and --credential-file are empty; expected the credential that the provider gave the allocation`,
      );
    return `${given}~${makeToken()}`;
  }
  const file = path.join(home, 'credentials', machineId.replaceAll('/', '_'));
  const invitation = given === '' ? await findInvitation(place, existsSync(file)) : given;
  return `${invitation}~${ensureToken(file)}`;
}

/**
 * With a home folder that a provider of the same account has too, the agent invites itself: it may do whatever the
 * account may.
 */
async function findInvitation(place: CredentialPlace, hasCredential: boolean): Promise<string> {
  const {
    home,
    facts: { machineId },
  } = place;
  const slash = machineId.indexOf('/');
  const providerId = place.providerId === '' ? machineId.slice(0, Math.max(0, slash)) : place.providerId;
  const name = machineId.startsWith(`${providerId}/`) ? machineId.slice(providerId.length + 1) : machineId;
  const own = findOwnProvider(home, providerId);
  if (own !== undefined) return inviteRetryWhileDiskFull({ ...place, own, name, hasCredential });
  if (hasCredential) return '';
  throw new MutiraoError(
    'MUT_UNAUTHENTICATED',
    `machine ${name} has no credential in ${home} yet; expected --invitation FILE, or --invitation - for ` +
      `standard input, with what "mutirao machine invite ${name}" prints where its provider runs`,
  );
}

/** Tries again while the provider is away. A machine that has a credential does not wait: it may be good still. */
async function inviteRetryWhileDiskFull({
  own,
  name,
  hasCredential,
  patience,
  log,
  signal,
}: CredentialPlace & {
  readonly own: OwnProvider;
  readonly name: string;
  readonly hasCredential: boolean;
}): Promise<string> {
  const giveUpAt = performance.now() + patience;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await inviteSelf(own, name, signal);
    } catch (error) {
      if (!(error instanceof MutiraoError) || error.code === 'MUT_MACHINE_REMOVED' || signal.aborted) throw error;
      if (hasCredential) return '';
      if (!error.retryable || performance.now() > giveUpAt) throw error;
      if (isFirst)
        log.info(
          { address: own.address, reason: error.message },
          'waiting for the provider of this home folder, which issues the invitation; for a provider on another ' +
            'host, use "mutirao machine invite" there',
        );
    }
    await delay(retryPause, undefined, { signal }).catch(() => undefined);
  }
}
