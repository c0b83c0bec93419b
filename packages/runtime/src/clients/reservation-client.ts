import type {
  AddMaintenanceRequest,
  AddMaintenanceResponse,
  CancelReservationRequest,
  CancelReservationResponse,
  ClaimReservationRequest,
  ClaimReservationResponse,
  ConfirmReservationRequest,
  ConfirmReservationResponse,
  FailResourceRequest,
  FailResourceResponse,
  GetCalendarRequest,
  GetCalendarResponse,
  GetQuotaRequest,
  GetQuotaResponse,
  GetReservationRequest,
  GetReservationResponse,
  ListReservationsRequest,
  ListReservationsResponse,
  ListResourcesResponse,
  PrepareReservationRequest,
  PrepareReservationResponse,
  RegisterResourceRequest,
  RegisterResourceResponse,
  ReleaseReservationRequest,
  ReleaseReservationResponse,
  RemoveMaintenanceRequest,
  RemoveMaintenanceResponse,
  RenegotiateReservationRequest,
  RenegotiateReservationResponse,
  RequestReservationRequest,
  RequestReservationResponse,
  RestoreResourceRequest,
  RestoreResourceResponse,
  UpdateResourceRequest,
  UpdateResourceResponse,
  VerifyReservationRequest,
  VerifyReservationResponse,
} from '@mutirao/api/reservation';

/** A reservation manager as its users and owners see it: each call rejects with a MutiraoError. */
export interface ReservationClient {
  requestReservation(request: RequestReservationRequest): Promise<RequestReservationResponse>;
  getReservation(request: GetReservationRequest): Promise<GetReservationResponse>;
  listReservations(request: ListReservationsRequest): Promise<ListReservationsResponse>;
  renegotiateReservation(request: RenegotiateReservationRequest): Promise<RenegotiateReservationResponse>;
  cancelReservation(request: CancelReservationRequest): Promise<CancelReservationResponse>;
  confirmReservation(request: ConfirmReservationRequest): Promise<ConfirmReservationResponse>;
  prepareReservation(request: PrepareReservationRequest): Promise<PrepareReservationResponse>;
  verifyReservation(request: VerifyReservationRequest): Promise<VerifyReservationResponse>;
  claimReservation(request: ClaimReservationRequest): Promise<ClaimReservationResponse>;
  releaseReservation(request: ReleaseReservationRequest): Promise<ReleaseReservationResponse>;
  getQuota(request: GetQuotaRequest): Promise<GetQuotaResponse>;
  getCalendar(request: GetCalendarRequest): Promise<GetCalendarResponse>;
  listResources(): Promise<ListResourcesResponse>;
  registerResource(request: RegisterResourceRequest): Promise<RegisterResourceResponse>;
  updateResource(request: UpdateResourceRequest): Promise<UpdateResourceResponse>;
  addMaintenance(request: AddMaintenanceRequest): Promise<AddMaintenanceResponse>;
  removeMaintenance(request: RemoveMaintenanceRequest): Promise<RemoveMaintenanceResponse>;
  failResource(request: FailResourceRequest): Promise<FailResourceResponse>;
  restoreResource(request: RestoreResourceRequest): Promise<RestoreResourceResponse>;
}
