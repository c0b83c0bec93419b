import { MutiraoError } from '@mutirao/api/errors';
import { isSocket, joinAddress, parseAddress } from '../rpc/address.ts';

/** Mutirao's options; the user's come before them and so win over them, and both win over the files of ssh. */
const masterOptions = [
  // A supervisor has no terminal: what would ask fails at once, and says so.
  'BatchMode=yes',
  'ConnectTimeout=15',
  'ServerAliveInterval=5',
  'ServerAliveCountMax=3',
  'TCPKeepAlive=yes',
  // One process in the foreground that carries everything, and nothing that the user's files add for her own sessions.
  'ControlMaster=yes',
  'ControlPersist=no',
  'ClearAllForwardings=yes',
  'ForwardAgent=no',
  'ForwardX11=no',
  'RemoteCommand=none',
  'RequestTTY=no',
  // Its last words are judged.
  'LogLevel=INFO',
  'PermitLocalCommand=no',
  'ForkAfterAuthentication=no',
  'StdinNull=yes',
  // Sockets that it makes here are the user's alone, and take the place of those that a killed one left.
  'StreamLocalBindMask=0177',
  'StreamLocalBindUnlink=yes',
];

/**
 * The arguments of `ssh` for the process that keeps a connection.
 *
 * @param options `KEY=VALUE` as of `ssh -o`, or a flag with its value in one word, such as `-F/home/ana/lab.conf` or
 * `-Jana@gate`.
 * @throws {MutiraoError} MUT_BAD_REQUEST for a malformed destination or option.
 */
export function masterArguments(destination: string, options: readonly string[], controlPath: string): string[] {
  if (!/^[^\s-]\S*$/.test(destination))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the ssh destination is "${destination}"; expected user@host, or a name of ~/.ssh/config`,
    );
  return [
    ...options.flatMap(readOption),
    ...masterOptions.flatMap((option) => ['-o', option]),
    '-S',
    controlPath,
    '-N',
    '-T',
    '--',
    destination,
  ];
}

/** The arguments of `ssh` for a command over the shared connection; it never opens one of its own. */
export function clientArguments(controlPath: string, words: readonly string[]): string[] {
  return [
    '-F',
    'none',
    '-S',
    controlPath,
    '-o',
    'ControlMaster=no',
    '-o',
    'ProxyCommand=exit 255',
    '-o',
    'BatchMode=yes',
    ...words,
  ];
}

/** Flags with their values, and without. Others would change what the connection is for. */
const flags = /^-(?:[FIJBPbceilmop].+|[46C]|v{1,3})$/s;
/** The options that make a connection one of Mutirao's; ssh does not care about the case of these words. */
const ours =
  /^(?:Control\w+|ForkAfterAuthentication|RemoteCommand|StdinNull|SessionType|StreamLocal\w+|ClearAllForwardings|(?:Local|Remote|Dynamic)Forward)=/i;

function readOption(option: string): string[] {
  const isPair = /^[A-Za-z][A-Za-z0-9]*=./s.test(option) && !ours.test(option);
  if ((!isPair && !flags.test(option)) || option.includes('\n')) {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the ssh option is ${JSON.stringify(option)}; expected KEY=VALUE as of ssh -o, or a flag with its value such ` +
        'as -F/path or -Juser@gate',
    );
  }
  return isPair ? ['-o', option] : [option];
}

/** What `-L` and `-R` take for an address. @param address `host:port`, or `unix:/path`. */
export function forwardWord(address: string): string {
  const where = parseAddress(address);
  return isSocket(where) ? where.path.replaceAll(':', '\\:') : joinAddress(where.host, where.port);
}
