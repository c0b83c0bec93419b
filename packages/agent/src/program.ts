import path from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import { requireUsableHost } from '@mutirao/runtime/files';
import { requireLimits } from '@mutirao/runtime/processes';
import { agentTrust } from '@mutirao/runtime/identity';
import { claimFolder } from './abandoned-folders.ts';
import type { AgentSetup } from './agent.ts';
import { makeCredential, readGiven } from './credential.ts';
import { findGangHosts } from './gang/member-name.ts';
import type { Isolation, IsolationOptions } from './isolation.ts';
import type { GridScriptPlaces } from './gridscript/prepare-gridscript.ts';
import {
  bytes,
  choice,
  defineProgram,
  duration,
  integer,
  list,
  readIsolationMode,
  text,
  traceOption,
  type ConfigOf,
  type ProgramContext,
} from '@mutirao/runtime/program';

const options = {
  provider: text({ help: 'Address of the provider.', placeholder: 'HOST:PORT' }),
  providerId: text({ help: 'Name of the provider.', placeholder: 'ID' }),
  machineId: text({
    help: "Name of this machine at its provider. Default: the host's name, or the request and the index in it.",
    placeholder: 'NAME',
  }),
  request: text({
    help: 'Request whose allocation this agent is in; empty for a lab machine.',
    placeholder: 'ID',
  }),
  invitation: text({
    help:
      'File with an invitation from "mutirao machine invite", removed once it was read; - = standard input. ' +
      'Needed at the first start only.',
    placeholder: 'FILE',
  }),
  credentialFile: text({
    help:
      "File with an allocation's credential or an invitation, which is not removed. MUTIRAO_CREDENTIAL may hold " +
      'the same.',
    placeholder: 'FILE',
  }),
  identity: text({
    help: 'What votes count as one machine, whatever its name. Default: the host.',
    placeholder: 'ID',
  }),
  processors: integer({
    help: 'Processors to offer; 0 = all of the host, or one in an allocation.',
    default: 0,
    min: 0,
    max: 4096,
  }),
  memory: bytes({ help: 'Memory to offer to tasks; 0 = what this process may use.', default: 0 }),
  gpus: text({
    help:
      'GPUs to offer: how many (2), of which kind (2:a100), or their ids (0,3). Default: what this process may use; ' +
      '0 = none.',
    placeholder: 'GPUS',
  }),
  resource: list({
    help: 'Counted resource to offer, such as licence=2 or scratch=200G.',
    placeholder: 'NAME=AMOUNT',
  }),
  pin: choice({
    help: 'Whether tasks are pinned to the processors that they hold. auto: where this agent has them to itself.',
    words: ['auto', 'none'],
    default: 'auto',
  }),
  site: text({ help: 'Value of the attribute "site".', placeholder: 'NAME' }),
  attribute: list({ help: 'Attribute that requirements can ask for.', placeholder: 'NAME=VALUE' }),
  storage: bytes({ help: 'Size limit of cached input files.', default: 10 * 2 ** 30 }),
  shared: text({
    help:
      'Home folder of a broker or provider on a shared file system; "none" = share nothing. Default: this home ' +
      'folder.',
    placeholder: 'FOLDER',
  }),
  isolation: text({
    help:
      'How to isolate tasks. bubblewrap: all tasks; account=NAME: all tasks run as another account, through ' +
      "sudo; none; auto: tasks of users other than the provider's owner, where bubblewrap works.",
    default: 'auto',
    placeholder: 'auto|bubblewrap|account=NAME|none',
  }),
  taskFolder: list({
    help: 'Folder that isolated tasks may write; all others are hidden or read-only for them.',
    placeholder: 'FOLDER',
  }),
  orphanTimeout: duration({ help: 'Exits after this long without a provider.', default: 600_000 }),
  gangAddress: list({
    help:
      'Address at which other machines of a multiprocessor task reach this one. Default: all network ' +
      'interfaces, or loopback if the provider is on loopback.',
    placeholder: 'ADDRESS',
  }),
  killGrace: duration({ help: 'Time between SIGTERM and SIGKILL for a task.', default: 5000 }),
  endHold: duration({
    help:
      'Reports the end of a task this much later, to recognize tasks that ended because their allocation did. ' +
      'On lab machines at most a hundredth of the run time.',
    default: 300,
  }),
  stopGrace: duration({ help: 'Longest time that stopping takes.', default: 1500 }),
  remExec: text({
    help: 'Drives another machine by templates, without installing Mutirao there: runs $command on $machine.',
    placeholder: 'TEMPLATE',
  }),
  copyTo: text({ help: 'With --rem-exec: copies $localfile to $remotefile on $machine.', placeholder: 'TEMPLATE' }),
  copyFrom: text({ help: 'With --rem-exec: copies $remotefile on $machine to $localfile.', placeholder: 'TEMPLATE' }),
  machine: text({ help: 'With --rem-exec: the value of $machine.', placeholder: 'HOST' }),
  remoteFolder: text({
    help: "With --rem-exec: folder for our files on the machine. Default: .mutirao of the login's home.",
    placeholder: 'FOLDER',
  }),
  templateDeadline: duration({
    help: 'With --rem-exec: kills a template that takes longer, except one that runs a task.',
    default: 300_000,
  }),
  trace: traceOption,
};

/** The agent on one machine: runs tasks there for brokers that its provider speaks for. */
export const agentProgram = defineProgram({
  name: 'agent',
  doesWithoutHome: true,
  summary: 'Runs tasks on this machine for the brokers of a provider.',
  options,
  optionGroups: [
    { heading: 'Common options', names: ['provider', 'providerId', 'machineId', 'processors', 'site', 'attribute'] },
    { heading: 'Capacity to offer', names: ['memory', 'gpus', 'resource', 'pin'] },
    { heading: 'Credentials', names: ['invitation', 'credentialFile', 'identity'] },
    { heading: 'Tasks and files', names: ['isolation', 'taskFolder', 'storage', 'shared', 'killGrace'] },
    { heading: 'Connections and ending', names: ['request', 'orphanTimeout', 'gangAddress', 'endHold', 'stopGrace'] },
    {
      heading: 'Machines reached by command templates',
      names: ['remExec', 'copyTo', 'copyFrom', 'machine', 'remoteFolder', 'templateDeadline'],
    },
    { heading: 'Traces', names: ['trace'] },
  ],
  examples: [
    {
      command: 'mutirao run agent --provider lab.uni.example:7001 --machine-id pc7',
      effect: 'work for a provider under the name pc7',
    },
    {
      command: 'mutirao run agent --provider lab.uni.example:7001 --processors 2 --attribute gpu=1',
      effect: 'offer two processors and an attribute',
    },
  ],
  run,
});

/** An agent has about 15 threads, and starts a shell for each slot and a few programs. */
const threadsMin = 32;

/** @throws {MutiraoError} MUT_HOME_UNUSABLE, MUT_PATH_UNUSABLE where each task would fail. */
function requireHost(folder: string): void {
  requireUsableHost(folder);
  requireLimits(threadsMin);
}

async function run(config: ConfigOf<typeof options>, context: ProgramContext): Promise<void> {
  if (config.provider === '')
    throw new MutiraoError('MUT_BAD_CONFIG', '--provider is empty; expected the address of a provider');
  const given = readGiven(config, process.env);
  // Loaded only now, so that --help is quick.
  const { Agent } = await import('./agent.ts');
  const { log, signal, home } = context;
  const unreachable = new AbortController();
  const getFolder = (machineId: string): string => {
    const folder = path.join(home, 'agents', machineId.replaceAll('/', '_'));
    claimFolder(folder, { machineId, isKept: config.request === '' });
    return folder;
  };
  const place = await preparePlace(config, {
    getFolder,
    log,
    onUnreachable: (error) => {
      unreachable.abort(error);
    },
  });
  const isAllocation = place.facts.requestId !== '';
  const sharedHome = findSharedHome(config, home);
  // What isolation is tried with lies in it.
  const folder = getFolder(place.facts.machineId);
  if (config.remExec === '') requireHost(folder);
  const isolation = await getIsolation(config, { home, folder, sharedHome, log });
  const attributes = { ...place.facts.attributes, isolation: isolation.kind };
  const facts = {
    ...place.facts,
    attributes,
    ...(isolation.exposedKey === undefined ? {} : { onlyUser: '' }),
    ...(isAllocation && config.endHold > 0 ? { reportDelay: config.endHold } : {}),
  };
  const credential = await makeCredential(given, {
    home,
    facts,
    providerId: config.providerId,
    patience: config.orphanTimeout,
    log,
    signal,
  });
  const agent = await Agent.start({
    ...place,
    facts,
    provider: config.provider,
    credential,
    trust: agentTrust(home),
    orphanTimeout: config.orphanTimeout,
    gangHosts: config.gangAddress.length === 0 ? findGangHosts(config.provider) : config.gangAddress,
    folder,
    keepsFiles: !isAllocation,
    isolation,
    ...(sharedHome === undefined ? {} : { sharedHome }),
    ...(config.shared === 'none' ? {} : { hostFolder: path.join(home, 'agents', '.contents') }),
    machine: {
      killGrace: config.killGrace,
      endHold: { longest: config.endHold, isForAll: isAllocation },
      contentBytesMax: config.storage,
      startedDelay: 10,
      reportInterval: 50,
      unacknowledgedMax: 10_000,
      unacknowledgedBytesMax: 64 * 2 ** 20,
      prefetchMax: facts.processors + 16,
    },
    trace: config.trace,
    log,
    onFatal: context.fail,
  });
  log.info({ machine: facts.machineId, processors: facts.processors, provider: config.provider }, 'started');
  whenAborted(signal, () => {
    agent.stop('the agent was asked to stop', config.stopGrace);
  });
  whenAborted(unreachable.signal, () => {
    agent.stop('the machine does not answer', config.stopGrace);
  });
  const error = await agent.done;
  await agent.close();
  if (error !== undefined) throw error;
  unreachable.signal.throwIfAborted();
  log.info({ machine: facts.machineId }, 'stopped');
}

function whenAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}

/** Undefined where nothing is shared. */
function findSharedHome({ remExec, shared }: ConfigOf<typeof options>, home: string): string | undefined {
  if (remExec !== '' || shared === 'none') return undefined;
  return shared === '' ? home : shared;
}

/**
 * What works on this host; nothing of it matters for a machine that is driven by templates. @throws {MutiraoError}
 * MUT_BAD_CONFIG, MUT_ISOLATION_UNAVAILABLE
 */
async function getIsolation(
  config: ConfigOf<typeof options>,
  { log, ...places }: Pick<IsolationOptions, 'home' | 'folder' | 'sharedHome'> & Pick<ProgramContext, 'log'>,
): Promise<Isolation> {
  const { findIsolation, noIsolation } = await import('./isolation.ts');
  const mode = readIsolationMode(config.isolation);
  if (config.remExec !== '') {
    if (mode !== 'auto' && mode !== 'none')
      throw new MutiraoError(
        'MUT_BAD_CONFIG',
        `--isolation ${config.isolation} does not go with --rem-exec: no Mutirao program runs on that machine; ` +
          'leave one of them out',
      );
    return noIsolation;
  }
  const isolation = await findIsolation({ ...places, mode, taskFolders: config.taskFolder, environment: process.env });
  const { kind, trouble, exposedKey, account } = isolation;
  log.info(
    {
      isolation: kind,
      ...(account === undefined ? {} : { account: account.account.name, ownTmp: account.sandbox !== undefined }),
      ...(trouble === '' ? {} : { trouble }),
    },
    'isolation of tasks',
  );
  if (exposedKey !== undefined)
    log.info(
      { key: exposedKey },
      'refusing tasks of users other than the owner: tasks could read the private key of the authority',
    );
  return isolation;
}

/** This host, or a machine that is driven by templates. */
async function preparePlace(
  config: ConfigOf<typeof options>,
  places: GridScriptPlaces,
): Promise<Pick<AgentSetup, 'facts' | 'pinning' | 'openWorkplace'>> {
  if (config.remExec !== '')
    return (await import('./gridscript/prepare-gridscript.ts')).prepareGridScript(config, places);
  return (await import('./capacity/prepare-host.ts')).prepareHost(config, process.env, places.log);
}
