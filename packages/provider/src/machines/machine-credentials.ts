import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { MutiraoError } from '@mutirao/api/errors';
import type { Duration, Instant } from '@mutirao/core/shared';
import { ownAccord, quietAudit, type Audit, type AuditCaller } from '@mutirao/runtime/audit';
import { makeToken } from '@mutirao/runtime/files';
import { journalError } from '@mutirao/runtime/journal';
import { describeRefusal, type EndedInvitation } from './invitation-refusal.ts';

/** A one-time secret with which one agent joins under a name. */
export interface Invitation {
  /** Known to nobody else: the provider keeps its digest. */
  readonly secret: string;
  readonly expiresAt: Instant;
}

/** Which machine a credential is for. */
export interface CredentialHolder {
  readonly name: string;
  /** It was shown an invitation, which `join` exchanges for the credential. */
  readonly isInvited: boolean;
}

/** How a machine is invited. */
export interface InviteOptions {
  /** Not where the name was removed and not invited since. */
  readonly unlessRemoved?: boolean;
  /** Who invites it; the provider itself when left out. */
  readonly by?: AuditCaller;
}

/** How a name stands. */
export interface MachineCredentialState {
  readonly name: string;
  readonly status: 'invited' | 'joined' | 'removed';
  readonly since: Instant;
  /** Of an open invitation; left out where there is none. */
  readonly expiresAt?: Instant;
}

interface StoredInvitation extends EndedInvitation {
  readonly madeAt: Instant;
}

interface StoredCredential {
  readonly name: string;
  readonly madeAt: Instant;
  readonly endedAt: Instant | undefined;
  readonly endedBy: 'removed' | 'replaced' | undefined;
}

interface Row {
  readonly digest: string;
  readonly machine: string;
  readonly made_at: number;
  readonly expires_at: number;
  readonly ended_at: number | null;
  readonly ended_by: string | null;
}

const schema = `
CREATE TABLE IF NOT EXISTS machine_invitations
  (digest TEXT PRIMARY KEY, machine TEXT NOT NULL, made_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, ended_at INTEGER, ended_by TEXT) STRICT;
CREATE TABLE IF NOT EXISTS machine_credentials
  (digest TEXT PRIMARY KEY, machine TEXT NOT NULL, made_at INTEGER NOT NULL, ended_at INTEGER, ended_by TEXT) STRICT`;

const day: Duration = 24 * 3_600_000;
/** How long an invitation is good for where nothing else is said. */
export const validDefault: Duration = day;
/** Longest time that an invitation is good for. */
export const validMax: Duration = 365 * day;
/** How long ended credentials are remembered, so that a holder receives the reason of a refusal. */
const endedKept: Duration = 90 * day;
/** Invitations of one name that have ended and are remembered. */
const endedPerNameMax = 8;
/** An agent's own secret has 256 random bits; a shorter text than this cannot be one. */
const secretLengthMin = 16;
/** Begins every invitation, so that a mistyped one is not taken for something else. */
const invitationPrefix = 'invitation-';

/**
 * The invitations and credentials of the machines that no allocation gives.
 *
 * An invitation is a random text that the owner hands to one machine. The agent shows it with a secret that it made
 * itself, and from then on that secret is the machine's credential: the invitation is used up. Because the agent makes
 * the secret before it asks, an answer that is lost costs nothing: it asks again. The database holds digests of both,
 * and what was written is on the disk before it is answered.
 */
export class MachineCredentials {
  readonly #database: DatabaseSync;
  readonly #clock: { now(): Instant };
  readonly #audit: Audit;
  readonly #invitations = new Map<string, StoredInvitation>();
  readonly #credentials = new Map<string, StoredCredential>();

  /**
   * Reads the stored credentials, and forgets those that ended long ago.
   *
   * @param audit records each credential that is made or withdrawn; nothing is recorded when left out.
   */
  constructor(database: DatabaseSync, clock: { now(): Instant }, audit: Audit = quietAudit) {
    this.#database = database;
    this.#clock = clock;
    this.#audit = audit;
    database.exec(schema);
    const before = clock.now() - endedKept;
    database.prepare('DELETE FROM machine_invitations WHERE coalesce(ended_at, expires_at) < ?').run(before);
    database.prepare('DELETE FROM machine_credentials WHERE ended_by = ? AND ended_at < ?').run('replaced', before);
    for (const row of rowsOf(database, 'machine_invitations')) {
      this.#invitations.set(row.digest, {
        name: row.machine,
        madeAt: row.made_at,
        expiresAt: row.expires_at,
        ...findEnd(row),
      } as StoredInvitation);
    }
    for (const row of rowsOf(database, 'machine_credentials'))
      this.#credentials.set(row.digest, {
        name: row.machine,
        madeAt: row.made_at,
        ...findEnd(row),
      } as StoredCredential);
  }

  /**
   * Makes an invitation. One of the same name that was not used is void from then on; a credential of that name stays
   * good until the invitation is used.
   *
   * @param validFor 0 for a day.
   * @throws {MutiraoError} MUT_BAD_REQUEST; MUT_MACHINE_REMOVED where `unlessRemoved` is set and the name was removed
   * and not invited since; MUT_DISK_FULL.
   */
  invite(name: string, validFor: Duration, { unlessRemoved = false, by }: InviteOptions = {}): Invitation {
    requireName(name);
    if (validFor > validMax)
      throw new MutiraoError(
        'MUT_BAD_REQUEST',
        `an invitation would be valid for ${Math.round(validFor / day)} days; expected ${validMax / day} at most`,
      );
    const resourceStatus = unlessRemoved ? this.#statusOf(name) : undefined;
    if (resourceStatus?.status === 'removed' && resourceStatus.expiresAt === undefined) throw removedError(name);
    const now = this.#clock.now();
    const [secret, expiresAt] = [`${invitationPrefix}${makeToken()}`, now + (validFor || validDefault)];
    const digest = getDigest(secret);
    this.#write('noting an invitation', () => {
      this.#database
        .prepare('UPDATE machine_invitations SET ended_at = ?, ended_by = ? WHERE machine = ? AND ended_at IS NULL')
        .run(now, 'replaced', name);
      this.#database
        .prepare('INSERT INTO machine_invitations VALUES (?, ?, ?, ?, NULL, NULL)')
        .run(digest, name, now, expiresAt);
      for (const ended of this.#findForgettable(name))
        this.#database.prepare('DELETE FROM machine_invitations WHERE digest = ?').run(ended);
    });
    for (const ended of this.#findForgettable(name)) this.#invitations.delete(ended);
    this.#endInvitations(name, 'replaced', now);
    this.#invitations.set(digest, { name, madeAt: now, expiresAt, endedAt: undefined, endedBy: undefined });
    this.#recordIssue(name, by, `an invitation, good once until ${new Date(expiresAt).toISOString()}`);
    return { secret, expiresAt };
  }

  /**
   * Says which machine a caller speaks for.
   *
   * @param given the invitation, or anything else once it was used. @param secret what the agent made itself.
   * @returns undefined for what is neither an invitation nor a credential of this provider.
   * @throws {MutiraoError} MUT_INVITATION_REFUSED, MUT_MACHINE_REMOVED, MUT_MACHINE_NAME_TAKEN_OVER for what was one, or looks like
   * one.
   */
  recognise(given: string, secret: string): CredentialHolder | undefined {
    const now = this.#clock.now();
    const invitation = this.#invitations.get(getDigest(given));
    if (isOpen(invitation, now)) return { name: invitation.name, isInvited: true };
    const credential = secret === '' ? undefined : this.#credentials.get(getDigest(secret));
    if (credential !== undefined && credential.endedBy === undefined)
      return { name: credential.name, isInvited: false };
    if (credential?.endedBy === 'removed') throw removedError(credential.name);
    if (invitation !== undefined || given.startsWith(invitationPrefix))
      throw new MutiraoError('MUT_INVITATION_REFUSED', describeRefusal(invitation));
    if (credential !== undefined)
      throw new MutiraoError(
        'MUT_MACHINE_NAME_TAKEN_OVER',
        `machine ${credential.name} was invited again, and another agent has its name now`,
      );
    return undefined;
  }

  /**
   * Exchanges an invitation: the agent's secret is the machine's credential from now on, in place of an earlier one.
   *
   * @throws {MutiraoError} MUT_INVITATION_REFUSED when the invitation is not good any more; MUT_CREDENTIAL_NAME where
   * the secret is another machine's; MUT_DISK_FULL.
   */
  join(name: string, given: string, secret: string, by?: AuditCaller): void {
    const now = this.#clock.now();
    const [invitationDigest, digest] = [getDigest(given), getDigest(secret)];
    const invitation = this.#invitations.get(invitationDigest);
    if (!isOpen(invitation, now) || invitation.name !== name)
      throw new MutiraoError('MUT_INVITATION_REFUSED', describeRefusal(invitation));
    if (secret.length < secretLengthMin)
      throw new MutiraoError(
        'MUT_BAD_REQUEST',
        `the agent of machine ${name} shows no secret of its own; expected one of ${secretLengthMin} characters ` +
          'or more after the invitation',
      );
    const known = this.#credentials.get(digest);
    if (known !== undefined && known.endedBy === undefined && known.name !== name)
      throw new MutiraoError(
        'MUT_CREDENTIAL_NAME',
        `the secret shown for machine ${name} is the credential of another machine`,
      );
    this.#write(`noting that machine ${name} joined`, () => {
      this.#database
        .prepare('UPDATE machine_invitations SET ended_at = ?, ended_by = ? WHERE digest = ?')
        .run(now, 'used', invitationDigest);
      this.#database
        .prepare('UPDATE machine_credentials SET ended_at = ?, ended_by = ? WHERE machine = ? AND ended_at IS NULL')
        .run(now, 'replaced', name);
      this.#database
        .prepare('INSERT OR REPLACE INTO machine_credentials VALUES (?, ?, ?, NULL, NULL)')
        .run(digest, name, now);
    });
    this.#invitations.set(invitationDigest, { ...invitation, endedAt: now, endedBy: 'used' });
    this.#endCredentials(name, 'replaced', now);
    this.#credentials.set(digest, { name, madeAt: now, endedAt: undefined, endedBy: undefined });
    this.#recordIssue(name, by, 'the credential of its agent, for an invitation that is used up');
  }

  /**
   * Withdraws a machine's credential and its open invitations. @returns whether there were any. @throws {MutiraoError}
   * MUT_DISK_FULL
   */
  remove(name: string, by: AuditCaller = ownAccord): boolean {
    const resourceStatus = this.#statusOf(name);
    if (resourceStatus === undefined || (resourceStatus.status === 'removed' && resourceStatus.expiresAt === undefined))
      return false;
    const now = this.#clock.now();
    this.#write(`withdrawing the credential of machine ${name}`, () => {
      for (const table of ['machine_invitations', 'machine_credentials']) {
        this.#database
          .prepare(`UPDATE ${table} SET ended_at = ?, ended_by = ? WHERE machine = ? AND ended_at IS NULL`)
          .run(now, 'removed', name);
      }
    });
    this.#endInvitations(name, 'removed', now);
    this.#endCredentials(name, 'removed', now);
    this.#audit.record({ action: 'credential.revoke', ...by, target: `machine ${name}` });
    return true;
  }

  /** Every name that is known, in their order. */
  list(): MachineCredentialState[] {
    const names = new Set([...this.#invitations.values(), ...this.#credentials.values()].map(({ name }) => name));
    return [...names].sort().flatMap((name) => this.#statusOf(name) ?? []);
  }

  #recordIssue(name: string, by: AuditCaller | undefined, detail: string): void {
    this.#audit.record({ action: 'credential.issue', ...(by ?? ownAccord), target: `machine ${name}`, detail });
  }

  #statusOf(name: string): MachineCredentialState | undefined {
    const now = this.#clock.now();
    const open = [...this.#invitations.values()].find(
      (invitation) => invitation.name === name && isOpen(invitation, now),
    );
    const more = open === undefined ? {} : { expiresAt: open.expiresAt };
    const credentials = [...this.#credentials.values()].filter((credential) => credential.name === name);
    const current = credentials.find(({ endedBy }) => endedBy === undefined);
    if (current !== undefined) return { name, status: 'joined', since: current.madeAt, ...more };
    const removals = credentials.flatMap(({ endedBy, endedAt }) =>
      endedBy === 'removed' && endedAt !== undefined ? [endedAt] : [],
    );
    if (open !== undefined && removals.length === 0) return { name, status: 'invited', since: open.madeAt, ...more };
    return removals.length === 0 ? undefined : { name, status: 'removed', since: Math.max(...removals), ...more };
  }

  /**
   * An agent that is started again and again is invited each time: of what ended under a name the newest are
   * remembered.
   */
  #findForgettable(name: string): string[] {
    const ended = [...this.#invitations].filter(
      ([, invitation]) => invitation.name === name && invitation.endedAt !== undefined,
    );
    return ended
      .sort(([, one], [, other]) => other.madeAt - one.madeAt)
      .slice(endedPerNameMax)
      .map(([digest]) => digest);
  }

  #endInvitations(name: string, endedBy: 'replaced' | 'removed', endedAt: Instant): void {
    for (const [digest, invitation] of this.#invitations) {
      if (invitation.name === name && invitation.endedAt === undefined)
        this.#invitations.set(digest, { ...invitation, endedAt, endedBy });
    }
  }

  #endCredentials(name: string, endedBy: 'replaced' | 'removed', endedAt: Instant): void {
    for (const [digest, credential] of this.#credentials) {
      if (credential.name === name && credential.endedAt === undefined)
        this.#credentials.set(digest, { ...credential, endedAt, endedBy });
    }
  }

  /**
   * All or nothing, and on the disk when it returns: a removal must not be undone by a power cut. The journal's own
   * setting is put back.
   */
  #write(what: string, statements: () => void): void {
    const { synchronous } = this.#database.prepare('PRAGMA synchronous').get() as { readonly synchronous: number };
    try {
      this.#database.exec('PRAGMA synchronous = FULL; BEGIN IMMEDIATE');
      statements();
      this.#database.exec('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw journalError(error, 'the database of machines', what);
    } finally {
      this.#database.exec(`PRAGMA synchronous = ${synchronous}`);
    }
  }
}

/** Whether an invitation can be used. */
function isOpen(invitation: StoredInvitation | undefined, now: Instant): invitation is StoredInvitation {
  return invitation !== undefined && invitation.endedAt === undefined && invitation.expiresAt > now;
}

function rowsOf(database: DatabaseSync, table: string): Row[] {
  return database.prepare(`SELECT * FROM ${table}`).all() as unknown as Row[];
}

function findEnd({ ended_at: endedAt, ended_by: endedBy }: Row): {
  readonly endedAt: Instant | undefined;
  readonly endedBy: string | undefined;
} {
  return { endedAt: endedAt ?? undefined, endedBy: endedBy ?? undefined };
}

/** @throws {MutiraoError} MUT_BAD_REQUEST */
function requireName(name: string): void {
  if (!/^[A-Za-z0-9_][\w.@-]{0,63}$/.test(name))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `machine name is ${JSON.stringify(name)}; expected up to 64 letters, digits, ".", "_", "@" and "-"`,
    );
}

function removedError(name: string): MutiraoError {
  return new MutiraoError('MUT_MACHINE_REMOVED', `machine ${name} was removed`);
}

function getDigest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
