import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { userInfo } from 'node:os';
import { Client } from '@grpc/grpc-js';
import {
  identityFolder,
  identityPaths,
  initIdentity,
  issueForHosts,
  issueForUser,
  makeAuthority,
  revokeSerial,
  type KeyPair,
} from '@mutirao/runtime/identity';
import { dial } from '@mutirao/runtime/rpc';
import { X509Certificate } from 'node:crypto';
import { Grid } from '../grid/grid.ts';
import { inviteMachine } from '../grid/invite-machine.ts';
import { Program } from '../grid/program.ts';
import { until } from '../until.ts';
import { callMethod } from './call-method.ts';

/** Users of the world: who owns its processes, two who have certificates, and one who may register resources. */
export type WorldUser = 'owner' | 'ana' | 'ben' | 'carl';

/**
 * The processes that serve something. `lab` is a provider of machines, `agents` the door of its agents, `site` a
 * provider over the cluster.
 */
export type WorldServer = 'broker' | 'cluster' | 'site' | 'lab' | 'agents' | 'reservations';

const day = 24 * 3_600_000;

/** A whole grid whose every process serves users, with clients for each kind of caller. */
export class AccessWorld {
  readonly grid: Grid;
  readonly reservations: Program;
  readonly #isTls: boolean;
  readonly #clients: Client[] = [];
  readonly #authority: KeyPair | undefined;
  readonly #certificates = new Map<string, Promise<KeyPair>>();

  private constructor(grid: Grid, reservations: Program, isTls: boolean) {
    this.grid = grid;
    this.reservations = reservations;
    this.#isTls = isTls;
    if (!isTls) return;
    const paths = identityPaths(identityFolder(grid.home));
    this.#authority = {
      certificate: readFileSync(paths.authorityCertificate, 'utf8'),
      key: readFileSync(paths.authorityKey, 'utf8'),
    };
  }

  /** @param isTls serve at ports, where users show certificates; else at sockets. */
  static async start(isTls: boolean): Promise<AccessWorld> {
    const listen = isTls ? { listen: 'tls://127.0.0.1:0', providerArgs: ['--listen-agents', 'tls://127.0.0.1:0'] } : {};
    const prepare = async (home: string): Promise<void> => {
      await initIdentity({
        folder: identityFolder(home),
        user: userInfo().username,
        hosts: [],
        lasts: day,
        now: Date.now(),
      });
    };
    const grid = await Grid.start({ clusters: [2], machines: [1], ...listen, ...(isTls ? { prepare } : {}) });
    const reservations = new Program(
      'reservations',
      ['--home', grid.home, '--registrar', 'carl', ...(isTls ? ['--listen', 'tls://127.0.0.1:0'] : [])],
      {},
    );
    await reservations.start();
    await until(async () => (await grid.client.machines()).length > 0, 'a machine joins');
    return new AccessWorld(grid, reservations, isTls);
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.reservations.kill('SIGTERM');
    await this.grid.stop();
  }

  listAddress(server: WorldServer): string {
    switch (server) {
      case 'broker':
        return this.grid.broker.address;
      case 'cluster':
        return this.grid.clusters[0]?.address ?? '';
      case 'site':
        return this.grid.providers[0]?.address ?? '';
      case 'lab':
        return this.grid.providers[1]?.address ?? '';
      case 'agents':
        return this.grid.providers[1]?.agentsAddress ?? '';
      case 'reservations':
        return this.reservations.address;
    }
  }

  /** A file of the home folder that holds a token. */
  token(...path: readonly string[]): string {
    return readFileSync(join(this.grid.home, ...path), 'utf8').trim();
  }

  /** An invitation for a machine of the lab, with a secret as its agent would show it. */
  async invitation(name: string): Promise<string> {
    return `${await inviteMachine(this.grid.home, 'lab', name)}~a-long-secret-of-${name}`;
  }

  /**
   * The client of a user: by a certificate at ports, by the token of the home folder at sockets, where there is the
   * owner alone.
   */
  async asUser(user: WorldUser, server: WorldServer): Promise<Client> {
    if (!this.#isTls) return this.asToken(this.token('token'), server);
    return this.#withCertificate(await this.#findCertificate(user), server);
  }

  /** A client that shows a token, or nothing at all when it is empty. */
  asToken(token: string, server: WorldServer): Client {
    return this.#dial(server, token);
  }

  /** Clients that no service for users may let in, by what they show. */
  async foreigners(server: WorldServer): Promise<ReadonlyMap<string, Client>> {
    const homeToken = this.token('token');
    const tokens = new Map([
      ['nothing', this.asToken('', server)],
      ['a wrong token', this.asToken('wrong', server)],
      ['the invitation of a machine', this.asToken(await this.invitation('guest'), server)],
    ]);
    if (this.#authority === undefined) return tokens;
    const validity = { now: Date.now(), lasts: day };
    const revoked = await issueForUser(this.#authority, 'ana', validity);
    revokeSerial(identityFolder(this.grid.home), new X509Certificate(revoked.certificate).serialNumber, 'lost');
    const method = {
      path: '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
      requestStream: true,
      responseStream: true,
      requestSerialize: (bytes: Buffer) => bytes,
      responseDeserialize: (bytes: Buffer) => bytes,
    };
    await until(
      async () => (await callMethod(this.#withCertificate(revoked, server), method, Buffer.alloc(0))).code !== 'done',
      'the server notices the revocation',
    );
    const foreign = await makeAuthority('another', validity);
    const certificates = [
      ['a certificate of another authority', await issueForUser(foreign, 'ana', validity)],
      ['an expired certificate', await issueForUser(this.#authority, 'ana', { now: Date.now(), lasts: -1 })],
      ['a certificate of a host', await issueForHosts(this.#authority, ['localhost'], validity)],
      ['a revoked certificate', revoked],
    ] as const;
    return new Map([
      ...tokens,
      ["the owner's token without a certificate", this.asToken(homeToken, server)],
      ...certificates.map(([name, pair]) => [name, this.#withCertificate(pair, server)] as const),
    ]);
  }

  #findCertificate(user: WorldUser): Promise<KeyPair> {
    const known = this.#certificates.get(user);
    if (known !== undefined || this.#authority === undefined)
      return known ?? Promise.reject(new Error('users have certificates at ports alone'));
    const issued = issueForUser(this.#authority, user === 'owner' ? userInfo().username : user, {
      now: Date.now(),
      lasts: day,
    });
    this.#certificates.set(user, issued);
    return issued;
  }

  #withCertificate(user: KeyPair, server: WorldServer): Client {
    return this.#dial(server, '', user);
  }

  #dial(server: WorldServer, token: string, user?: KeyPair): Client {
    const authority = this.#authority?.certificate ?? '';
    const client = dial(Client, this.listAddress(server), {
      token,
      trust: () => ({ authority, ...(user === undefined ? {} : { user }) }),
    });
    this.#clients.push(client);
    return client;
  }
}
