export {
  AttachRequest, AttachResponse, CancelReplicas, ContentOffered, ContentWanted, Drain, GangHeld, GangMember, GangPlace, GridMachineServiceClient, GridMachineServiceService,
  MachineFacts, MachineHello, Outcome, OutputContent, PullContentRequest, PullContentResponse, PushContentRequest, PushContentResponse,
  ReplicaEnded, ReplicaStart, ReplicaStarted, Report, ReportAcknowledged, StagingTimes, StartGang, StartReplicas, type GridMachineServiceServer,
} from './generated/mutirao/machine/v1/machine.ts';
