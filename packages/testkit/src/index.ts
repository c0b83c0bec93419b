export {
  checkNothingOvercommitted,
  openRules,
  ReservationsHarness,
  reservationsOptions,
} from './reservations/reservations-harness.ts';
export { aSentence } from './a-sentence.ts';
export { aReservationWire, FakeReservations } from './reservations/fake-reservations.ts';
export { ReservationSyncHarness } from './reservations/reservation-sync-harness.ts';
export { CountedCandidates, type CountedReservation } from './reservations/counted-candidates.ts';
export {
  VariableSlots,
  type SlotReservation,
  type SlotWant,
  type VariableSlot,
} from './reservations/variable-slots.ts';
export { forbidLeaks } from './forbid-leaks.ts';
export { aJobSummary, aJobSpec, aLedgerRow, aMachineRecord, aReplica, aTask } from './broker-records.ts';
export { runCommandLine, type CommandResult, type FakeGrid } from './command-line.ts';
export { BrokerAgent } from './broker-agent.ts';
export { BrokerClient, taskGroup } from './grid/broker-client.ts';
export { describeFindings, runChaos, type ChaosOptions, type ChaosOutcome } from './chaos/run-chaos.ts';
export { SmallDisk } from './chaos/small-disk.ts';
export { aClaim, aReservation } from './claimed-reservation.ts';
export { BrokerHarness, describeBrokerCommand } from './broker-harness.ts';
export { BrokerWorld } from './broker-world.ts';
export { buildExampleClient, type ClientLanguage, type ExampleClient } from './grid/example-client.ts';
export { Grid, type GridMachineOptions, type GridOptions } from './grid/grid.ts';
export { slowHome, slowProvider } from './slowness/index.ts';
export { readMetrics } from './grid/read-metrics.ts';
export { NatsServer } from './grid/nats-server.ts';
export { packedProgram, SiteWorld } from './grid/site-world.ts';
export { SshServer, type SshServerOptions } from './grid/ssh-server.ts';
export { Wire } from './grid/wire.ts';
export { HostileMachine, type HostileContent, type HostileWords } from './grid/hostile-machine.ts';
export { inviteMachine, removeMachine } from './grid/invite-machine.ts';
export { FakeBroker } from './grid/fake-broker.ts';
export { Program, type ProgramName, type ProgramWitnesses, type UnaskedEnd } from './grid/program.ts';
export { GridEngineServer, type GridEngineServerOptions } from './grid/grid-engine-server.ts';
export { OarServer } from './grid/oar-server.ts';
export { SlurmGrid } from './grid/slurm-grid.ts';
export { SlurmServer, type SlurmServerOptions } from './grid/slurm-server.ts';
export { AnsweringBroker, wire } from './answering-broker.ts';
export { aCallContext, inject } from './inject.ts';
export { aGroup, aJob, aMachine, anEnd } from './broker.ts';
export { FakeGang, type FakeGangSetup, type HeldGang } from './fake-gang.ts';
export { aTemplate, FakeProvider } from './fake-provider.ts';
export { FakeCommands, FakeSlurm, type FakeJob } from './fake-commands.ts';
export { checkInteractions, playInteractions, type Comparison, type Perform } from './interaction.ts';
export { describeProviderCommand, ProviderHarness } from './provider-harness.ts';
export { describeFacts, WatchingHeuristic } from './watching-heuristic.ts';
export { aListing, aServed, someFacts, type ListedRequest } from './requests.ts';
export { streamPair, type StreamEnd } from './stream-pair.ts';
export { asOrdinaryAccount } from './ordinary-account.ts';
export { discardSocket, freeSocket } from './free-socket.ts';
export { sweepProcesses } from './sweep-processes.ts';
export { temporaryFolder, type WithTeardown } from './temporary-folder.ts';
export { until } from './until.ts';
export { fakePageGrid } from './web-gateway.ts';
export { webHeaders, webHost, webToken } from './web-knock.ts';
export { runs } from './runs.ts';
export {
  slowEasy,
  slowReinsert,
  SlowResource,
  slowStartNow,
  slowStarts,
  startHeads,
  type SlowPolicy,
  type SlowRequest,
} from './slow-resource.ts';
export { anyDraft, anyProblem, tenTasks } from './workflows.ts';
export { isAlive } from './is-alive.ts';
export { withOptions } from './with-options.ts';
export { HostileClient, messagePrefix, type RawCall } from './hostile-client.ts';
export { HandTimers } from './hand-timers.ts';
export { hostileMessages, messagesOfMethod, plausibleMessages, type HostileMessage } from './hostile-fields.ts';
export { tryHostileCalls, type HostileCalls, type HostileCounts } from './hostile-calls.ts';
export { FakeStream, type Disposition } from './fake-stream.ts';
export {
  resourceManagerCases,
  type ManagerAssertions,
  type ManagerCase,
  type ManagerUnderTest,
} from './resource-manager-cases.ts';
export {
  siteReservationCases,
  type ReservationsUnderTest,
  type ReservingManager,
  type SiteReservationCase,
} from './site-reservation-cases.ts';
