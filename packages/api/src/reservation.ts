export {
  AddMaintenanceRequest, AddMaintenanceResponse, AheadStatus, Algorithm, Alternative, CalendarSlot, CancelReservationRequest, CancelReservationResponse, ClaimKey, ClaimReservationRequest,
  ClaimReservationResponse, ConfirmReservationRequest, ConfirmReservationResponse, ElasticAmount, FailResourceRequest, FailResourceResponse, GetCalendarRequest,
  GetCalendarResponse, GetClaimKeysRequest, GetClaimKeysResponse, GetQuotaRequest, GetQuotaResponse, GetReservationRequest, GetReservationResponse,
  GetTogetherDecisionRequest, GetTogetherDecisionResponse, HeldAhead, ListReservationsRequest, ListReservationsResponse,
  ListResourcesRequest, ListResourcesResponse, Maintenance, MalleableAmount, Placement, PledgeReservationRequest, PledgeReservationResponse, Refusal, RegisterResourceRequest, RegisterResourceResponse, ReleaseReservationRequest,
  ReleaseReservationResponse, RemoveMaintenanceRequest, RemoveMaintenanceResponse, RenegotiateReservationRequest, RenegotiateReservationResponse, RequestReservationRequest,
  RequestReservationResponse, Reservation, ReservationEvent, ReservationServiceClient, ReservationServiceService, ReservationStatus, ReservationWish, Resource, ResourceKind, TellHeldAheadRequest, TellHeldAheadResponse,
  ResourceRules, RestoreResourceRequest, RestoreResourceResponse, Timing, Together, TogetherDecision, UnitRange, UpdateResourceRequest, UpdateResourceResponse, VerifyReservationRequest,
  VerifyReservationResponse, WatchReservationsRequest, WatchReservationsResponse, type ReservationServiceServer,
} from './generated/mutirao/reservation/v1/reservation_service.ts';
