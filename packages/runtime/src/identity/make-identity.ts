import { randomBytes, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import type { Duration, Instant } from '@mutirao/core/shared';
import { accountName, removeTree, writeAtomic } from '../files/index.ts';
import { authorityKeyPath, identityPaths, type IdentityPaths } from './folder.ts';
import { listHosts, issueForHosts, issueForUser, makeAuthority, type KeyPair } from './issue.ts';
import { checkHostName, checkUserName, loopbackNames, ownHostNames } from './names.ts';
import { requireInDate, readKeyPair } from './read-identity.ts';

/** What an identity folder holds. */
export interface IdentityDescription {
  readonly folder: string;
  /** SHA-256 of the authority's certificate, to be compared by people. */
  readonly authorityFingerprint: string;
  /** Whether certificates can be made with it. */
  readonly hasAuthorityKey: boolean;
  /** Undefined where the folder holds none. */
  readonly user: CertificateDescription | undefined;
  readonly host: CertificateDescription | undefined;
}

/** What a certificate says. */
export interface CertificateDescription {
  /** The user's name, or the names of the host. */
  readonly names: readonly string[];
  readonly serial: string;
  readonly validUntil: Instant;
}

/** What an identity is made with. */
export interface InitOptions {
  readonly folder: string;
  readonly user: string;
  /** Further names of this host, in addition to those that it knows itself. */
  readonly hosts: readonly string[];
  /**
   * Absolute path of the folder for the authority's key; left out, the key stays where it is, at first in the
   * identity's own folder.
   */
  readonly authority?: string;
  readonly lasts: Duration;
  readonly now: Instant;
}

/** How long an authority is good for. */
const authorityLasts = 10 * 365 * 24 * 3_600_000;

/**
 * Makes the identity of a home: an authority, its owner's certificate and this host's. Where there is one already, the
 * authority stays and the certificates are made again; a host keeps the names that it has.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST for a name that no certificate can hold; MUT_BAD_CONFIG where the folder
 * belongs to somebody else's authority.
 */
export async function initIdentity({
  folder,
  user,
  hosts,
  authority: place,
  lasts,
  now,
}: InitOptions): Promise<IdentityDescription> {
  checkUserName(user);
  const paths = identityPaths(folder);
  const given = hosts.map(checkHostName);
  if (place !== undefined) checkAuthorityPlace(paths, place);
  const isNew = !existsSync(paths.authorityCertificate);
  const authority = isNew ? await newAuthority(user, now) : readAuthority(paths, now);
  if (isNew || place !== undefined) placeAuthority(paths, authority, place);
  const former = existsSync(paths.hostCertificate) ? listHosts(readFileSync(paths.hostCertificate, 'utf8')) : [];
  const names = new Set([...ownHostNames(), ...former, ...given]);
  writePair(paths.userCertificate, paths.userKey, await issueForUser(authority, user, { now, lasts }));
  writePair(
    paths.hostCertificate,
    paths.hostKey,
    await issueForHosts(authority, [...names].filter(isName), { now, lasts }),
  );
  return describeIdentity(folder);
}

/**
 * Makes an identity for servers at loopback ports where a home has none, good as long as its authority.
 *
 * Of processes that start at once the first one wins. @throws {MutiraoError} MUT_BAD_CONFIG
 */
export async function ensureIdentity(folder: string): Promise<void> {
  if (existsSync(identityPaths(folder).authorityCertificate)) return;
  const draft = `${folder}.${randomBytes(4).toString('hex')}.tmp`;
  await initIdentity({ folder: draft, user: accountName(), hosts: [], lasts: authorityLasts, now: Date.now() });
  try {
    renameSync(draft, folder);
  } catch (error) {
    removeTree(draft);
    if (!existsSync(identityPaths(folder).authorityCertificate)) throw error;
  }
}

/** A host may call itself what no certificate can hold. */
function isName(name: string): boolean {
  try {
    return checkHostName(name) === name;
  } catch {
    return false;
  }
}

function newAuthority(user: string, now: Instant): Promise<KeyPair> {
  // A part of chance keeps two authorities of one user apart where a program looks them up by name.
  return makeAuthority(`Mutirao of ${user} on ${hostname()} ${randomBytes(4).toString('hex')}`.slice(-64), {
    now,
    lasts: authorityLasts,
  });
}

/** @throws {MutiraoError} MUT_BAD_REQUEST for a folder where a key would be no safer, or that holds another one's. */
function checkAuthorityPlace(paths: IdentityPaths, place: string): void {
  const home = dirname(paths.folder);
  if (!isAbsolute(place))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the folder of the authority's key is "${place}"; expected an absolute path`,
    );
  if (`${place}${sep}`.startsWith(`${home}${sep}`))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the folder of the authority's key is ${place}; expected one outside of the home folder ${home}`,
    );
  const key = join(place, 'ca.key');
  const isOurs = key === authorityKeyPath(paths.folder) && existsSync(paths.authorityCertificate);
  if (existsSync(key) && !isOurs)
    throw new MutiraoError('MUT_BAD_REQUEST', `${key} is the key of another authority; expected a folder without one`);
}

/** Writes the key before the certificate that names it, and removes a former copy of the key last. */
function placeAuthority(paths: IdentityPaths, authority: KeyPair, place: string | undefined): void {
  const former = authorityKeyPath(paths.folder);
  const key = place === undefined ? former : join(place, 'ca.key');
  writeAtomic(key, authority.key);
  if (place !== undefined) writeAtomic(paths.authorityPlace, `${place}\n`, 0o644);
  writeAtomic(paths.authorityCertificate, authority.certificate, 0o644);
  if (former !== key) rmSync(former, { force: true });
}

function readAuthority(paths: IdentityPaths, now: Instant): KeyPair {
  const key = authorityKeyPath(paths.folder);
  const wayOut =
    key === paths.authorityKey
      ? 'certificates are made where "mutirao init" was run first'
      : `the key of the authority was put there with "mutirao init --authority"; make ${dirname(key)} readable ` +
        'for this account while certificates are made';
  const authority = readKeyPair(paths.authorityCertificate, key, wayOut);
  requireInDate(authority.certificate, {
    path: paths.authorityCertificate,
    now,
    wayOut: 'remove the folder and make a new identity; everybody needs new certificates then',
  });
  return authority;
}

/** Identity to create for somebody else. */
export interface IssueOptions {
  /** The folder with the authority. */
  readonly folder: string;
  /** Where the parts go; it becomes the `identity` folder of another home. */
  readonly out: string;
  /** Names of the host that the certificate is for; empty for none. */
  readonly hosts: readonly string[];
  /** The user that the certificate names; undefined for none. */
  readonly user: string | undefined;
  readonly lasts: Duration;
  readonly now: Instant;
}

/**
 * Makes certificates for another host, another user, or both. @throws {MutiraoError} MUT_BAD_REQUEST, MUT_BAD_CONFIG,
 * MUT_TOKEN_UNSAFE
 */
export async function issueIdentity({
  folder,
  out,
  hosts,
  user,
  lasts,
  now,
}: IssueOptions): Promise<IdentityDescription> {
  if (hosts.length === 0 && user === undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      'nobody to make a certificate for; expected --for HOST, --user NAME or both',
    );
  const names = hosts.map(checkHostName);
  if (user !== undefined) checkUserName(user);
  const target = identityPaths(out);
  if (existsSync(target.authorityKey) || existsSync(target.authorityPlace))
    throw new MutiraoError('MUT_BAD_REQUEST', `${out} holds an authority of its own; expected another folder`);
  const authority = readAuthority(identityPaths(folder), now);
  writeAtomic(target.authorityCertificate, authority.certificate, 0o644);
  if (user !== undefined)
    writePair(target.userCertificate, target.userKey, await issueForUser(authority, user, { now, lasts }));
  if (names.length > 0) {
    writePair(
      target.hostCertificate,
      target.hostKey,
      await issueForHosts(authority, [...new Set([...names, ...loopbackNames])], { now, lasts }),
    );
  }
  return describeIdentity(out);
}

function writePair(certificatePath: string, keyPath: string, { certificate, key }: KeyPair): void {
  writeAtomic(keyPath, key);
  writeAtomic(certificatePath, certificate, 0o644);
}

/** The contents of an identity folder. @throws {MutiraoError} MUT_BAD_CONFIG when it is not one. */
export function describeIdentity(folder: string): IdentityDescription {
  const paths = identityPaths(folder);
  if (!existsSync(paths.authorityCertificate))
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `${paths.authorityCertificate} is not there; make an identity with "mutirao init"`,
    );
  return {
    folder,
    authorityFingerprint: new X509Certificate(readFileSync(paths.authorityCertificate)).fingerprint256,
    hasAuthorityKey: existsSync(authorityKeyPath(folder)),
    user: describeUser(paths.userCertificate),
    host: describeCertificate(paths.hostCertificate, (certificate) => listHosts(certificate.toString())),
  };
}

/** The name by which other hosts know the owner of the folder; undefined if it holds no user certificate. */
export function userOfIdentity(folder: string): string | undefined {
  return describeUser(identityPaths(folder).userCertificate)?.names[0];
}

function describeUser(path: string): CertificateDescription | undefined {
  return describeCertificate(path, (certificate) => [certificate.toLegacyObject().subject.CN].flat().map(String));
}

function describeCertificate(
  path: string,
  namesOf: (certificate: X509Certificate) => readonly string[],
): CertificateDescription | undefined {
  if (!existsSync(path)) return undefined;
  const certificate = new X509Certificate(readFileSync(path));
  return {
    names: namesOf(certificate),
    serial: certificate.serialNumber.toLowerCase(),
    validUntil: certificate.validToDate.getTime(),
  };
}
