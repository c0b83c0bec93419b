import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { MutiraoError } from '@mutirao/api/errors';
import type { MachineId, ProcessorCount, RequestId } from '@mutirao/core/shared';
import { ownAccord, type AuditCaller } from '@mutirao/runtime/audit';
import { isFullDisk } from '@mutirao/runtime/files';
import { journalError } from '@mutirao/runtime/journal';
import { getSecret, withoutSecret, type AgentOrigin } from './credentials.ts';
import type { MachineCredentials } from './machines/machine-credentials.ts';

interface Entered {
  readonly requestId: RequestId;
  readonly digest: string;
}

/** What the gate asks of the provider's state. */
export interface RequestLookup {
  /** Processors of a request whose agents are welcome; 0 for any other. */
  findWidth(requestId: RequestId): ProcessorCount;
}

const schema =
  'CREATE TABLE IF NOT EXISTS agent_secrets (machine_id TEXT PRIMARY KEY, request_id TEXT NOT NULL, digest TEXT ' +
  'NOT NULL) STRICT';

/**
 * Makes copied credentials useless: in addition to its credential each agent shows a secret that it made itself, and
 * the name of a machine belongs to the first secret shown with it.
 *
 * The provider remembers the secrets of an allocation's machines until the request is over, also after a restart. The
 * secret of a time-shared machine is bound to its name by the invitation, until the machine is removed or invited
 * again.
 */
export class AgentGate {
  readonly #database: DatabaseSync;
  readonly #lookup: RequestLookup;
  readonly #machines: Pick<MachineCredentials, 'join'>;
  readonly #entered = new Map<MachineId, Entered>();
  /** Machines whose agents show a secret, by its digest. */
  readonly #byDigest = new Map<string, Set<MachineId>>();

  /** Takes up what is remembered of requests whose agents are still welcome. */
  constructor(database: DatabaseSync, lookup: RequestLookup, machines: Pick<MachineCredentials, 'join'>) {
    this.#database = database;
    this.#machines = machines;
    this.#lookup = lookup;
    database.exec(schema);
    const rows = database.prepare('SELECT machine_id, request_id, digest FROM agent_secrets').all() as {
      machine_id: string;
      request_id: string;
      digest: string;
    }[];
    for (const { machine_id: machineId, request_id: requestId, digest } of rows) {
      if (lookup.findWidth(requestId) > 0) this.#note(machineId, { requestId, digest });
      else this.#erase(machineId);
    }
  }

  /**
   * Lets an agent in under a name, for the first time or again. An invitation is exchanged: the agent of a former one
   * loses the name.
   *
   * @throws {MutiraoError} MUT_CREDENTIAL_COPIED when the name is another agent's, or none of the request's machines
   * has it; MUT_CREDENTIAL_NAME when the credential is another machine's; MUT_INVITATION_REFUSED; MUT_DISK_FULL.
   */
  enter(origin: AgentOrigin, machineId: MachineId, credential: string, by: AuditCaller = ownAccord): void {
    const requestId = origin.kind === 'request' ? origin.requestId : '';
    const digest = getDigest(credential);
    if (origin.kind === 'machine') this.#admitMachine(origin, { machineId, credential, by });
    const known = this.#entered.get(machineId);
    if (known !== undefined && known.digest !== digest)
      throw new MutiraoError('MUT_CREDENTIAL_COPIED', `machine ${machineId} is another agent's`);
    if (known !== undefined) return;
    if (requestId !== '') {
      const width = this.#lookup.findWidth(requestId);
      if (width === 0) return; // The request is over, and the provider's machine will say so.
      requireMachine(machineId, requestId, width);
      try {
        this.#database.prepare('INSERT INTO agent_secrets VALUES (?, ?, ?)').run(machineId, requestId, digest);
      } catch (error) {
        // Let in all the same, it could be shut out after a restart; the agent tries again.
        throw journalError(error, 'the database of agents', `remembering machine ${machineId}`);
      }
    }
    this.#note(machineId, { requestId, digest });
  }

  /** The name of a time-shared machine is its credential's. */
  #admitMachine(
    { name, isInvited }: AgentOrigin & { readonly kind: 'machine' },
    {
      machineId,
      credential,
      by,
    }: { readonly machineId: MachineId; readonly credential: string; readonly by: AuditCaller },
  ): void {
    const ownName = machineId.slice(machineId.indexOf('/') + 1);
    if (ownName !== name)
      throw new MutiraoError(
        'MUT_CREDENTIAL_NAME',
        `the ${isInvited ? 'invitation' : 'credential'} is for machine ${name}, and the agent calls itself ` +
          `${ownName}; expected --machine-id ${name}`,
      );
    if (!isInvited) return;
    this.#machines.join(name, withoutSecret(credential), getSecret(credential), by);
    const former = this.#entered.get(machineId);
    if (former !== undefined && former.digest !== getDigest(credential)) this.#forget(machineId, former);
  }

  /** @throws {MutiraoError} MUT_CREDENTIAL_COPIED unless the machine's agent shows this secret. */
  demandAgentOf(machineId: MachineId, credential: string): void {
    if (this.#entered.get(machineId)?.digest !== getDigest(credential))
      throw new MutiraoError('MUT_CREDENTIAL_COPIED', `machine ${machineId} is another agent's`);
  }

  /**
   * An agent's stream has ended. A machine of a request stays its agent's until the request is over, even if that agent
   * said good-bye: no other process is started for it, so a free place would only serve a copied credential.
   */
  leave(machineId: MachineId): void {
    const known = this.#entered.get(machineId);
    if (known?.requestId === '') this.#forget(machineId, known);
  }

  /** @throws {MutiraoError} MUT_CREDENTIAL_COPIED unless an agent of the request has entered with the secret. */
  requireEntered(requestId: RequestId, credential: string): void {
    if (this.machinesOf(requestId, credential).length > 0) return;
    throw new MutiraoError('MUT_CREDENTIAL_COPIED', `no agent of request ${requestId} has attached with this secret`);
  }

  /**
   * The machines whose agent shows this secret; more than one only where an agent has entered under several names.
   * @param requestId empty for time-shared machines.
   */
  machinesOf(requestId: RequestId, credential: string): MachineId[] {
    return [...(this.#byDigest.get(getDigest(credential)) ?? [])].filter(
      (machineId) => this.#entered.get(machineId)?.requestId === requestId,
    );
  }

  /** Forgets the machines of a request that is over. */
  forgetRequest(requestId: RequestId): void {
    for (const [machineId, entered] of [...this.#entered]) {
      if (entered.requestId === requestId) this.#forget(machineId, entered);
    }
    this.#remove('DELETE FROM agent_secrets WHERE request_id = ?', requestId);
  }

  #note(machineId: MachineId, entered: Entered): void {
    this.#entered.set(machineId, entered);
    this.#byDigest.set(entered.digest, (this.#byDigest.get(entered.digest) ?? new Set()).add(machineId));
  }

  #forget(machineId: MachineId, { digest }: Entered): void {
    this.#entered.delete(machineId);
    const machineIds = this.#byDigest.get(digest);
    machineIds?.delete(machineId);
    if (machineIds?.size === 0) this.#byDigest.delete(digest);
  }

  /** On a full disk a row stays: the next start erases those of requests that are over. */
  #remove(sql: string, id: string): void {
    try {
      this.#database.prepare(sql).run(id);
    } catch (error) {
      if (!isFullDisk(journalError(error, 'the database of agents', 'erasing'))) throw error;
    }
  }

  #erase(machineId: MachineId): void {
    this.#remove('DELETE FROM agent_secrets WHERE machine_id = ?', machineId);
  }
}

/** A request's machines are counted from 0, each with one name: 00 would be a second one for 0. */
function requireMachine(machineId: MachineId, requestId: RequestId, width: ProcessorCount): void {
  const index = /\.(0|[1-9]\d{0,6})$/.exec(machineId)?.[1];
  if (index === undefined || Number(index) >= width) {
    throw new MutiraoError(
      'MUT_CREDENTIAL_COPIED',
      `machine ${machineId} is none of request ${requestId}, which has ${width}`,
    );
  }
}

function getDigest(credential: string): string {
  return createHash('sha256').update(getSecret(credential)).digest('base64url');
}
