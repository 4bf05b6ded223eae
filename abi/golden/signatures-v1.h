/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signatures of ABI 1, frozen: one lock per slot and per callback, on the exact pointer type,
 * written out without the typedefs of the headers. Offsets and sizes do not change when a parameter
 * does, these assertions fail. Locks are only ever added. tests/abi/signatures.c includes this file
 * and checks that no slot is left without a lock.
 */

/* ---- core ------------------------------------------------------------------------------------ */

_Static_assert(_Generic(((struct cplayout_core *)0)->local_group_create,
                        int32_t (*)(const struct cplayout_host *, int32_t,
                                    struct cplayout_local_group **, struct cplayout_error *) : 1,
                        default : 0),
               "core.local_group_create");
enum { locked_core_local_group_create };

_Static_assert(_Generic(((struct cplayout_core *)0)->local_group_destroy,
                        void (*)(struct cplayout_local_group *) : 1, default : 0),
               "core.local_group_destroy");
enum { locked_core_local_group_destroy };

_Static_assert(_Generic(((struct cplayout_core *)0)->options,
                        void (*)(void (*)(void *, const struct cplayout_option_info *), void *) : 1,
                        default : 0),
               "core.options");
enum { locked_core_options };

_Static_assert(_Generic(((struct cplayout_core *)0)->get_interface,
                        const void *(*)(const char *) : 1, default : 0),
               "core.get_interface");
enum { locked_core_get_interface };

_Static_assert(_Generic(((struct cplayout_core *)0)->check,
                        int32_t (*)(const struct cplayout_create_args *,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "core.check");
enum { locked_core_check };

_Static_assert(_Generic(((struct cplayout_core *)0)->create,
                        int32_t (*)(const struct cplayout_create_args *, struct cplayout_context **,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "core.create");
enum { locked_core_create };

_Static_assert(_Generic(((struct cplayout_core *)0)->destroy,
                        void (*)(struct cplayout_context *) : 1, default : 0),
               "core.destroy");
enum { locked_core_destroy };

_Static_assert(_Generic(((struct cplayout_core *)0)->layout,
                        int32_t (*)(struct cplayout_context *, const char *, int32_t *,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "core.layout");
enum { locked_core_layout };

_Static_assert(_Generic(((struct cplayout_core *)0)->schedule,
                        int32_t (*)(struct cplayout_context *,
                                    const struct cplayout_schedule_args *,
                                    struct cplayout_schedule **, struct cplayout_error *) : 1,
                        default : 0),
               "core.schedule");
enum { locked_core_schedule };

_Static_assert(_Generic(((struct cplayout_core *)0)->schedule_describe,
                        void (*)(const struct cplayout_schedule *,
                                 struct cplayout_schedule_info *) : 1,
                        default : 0),
               "core.schedule_describe");
enum { locked_core_schedule_describe };

_Static_assert(_Generic(((struct cplayout_core *)0)->layer_describe,
                        int32_t (*)(const struct cplayout_schedule *, int32_t,
                                    struct cplayout_layer_info *, struct cplayout_error *) : 1,
                        default : 0),
               "core.layer_describe");
enum { locked_core_layer_describe };

_Static_assert(_Generic(((struct cplayout_core *)0)->batch_create,
                        int32_t (*)(struct cplayout_context *, const struct cplayout_batch_args *,
                                    struct cplayout_batch **, struct cplayout_error *) : 1,
                        default : 0),
               "core.batch_create");
enum { locked_core_batch_create };

_Static_assert(_Generic(((struct cplayout_core *)0)->batch_destroy,
                        void (*)(struct cplayout_batch *) : 1, default : 0),
               "core.batch_destroy");
enum { locked_core_batch_destroy };

_Static_assert(_Generic(((struct cplayout_core *)0)->conversion,
                        int32_t (*)(struct cplayout_context *, int32_t,
                                    const struct cplayout_call *, struct cplayout_conversion *,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "core.conversion");
enum { locked_core_conversion };

_Static_assert(_Generic(((struct cplayout_core *)0)->prepare_layer,
                        int32_t (*)(struct cplayout_context *, const struct cplayout_call *,
                                    struct cplayout_tensor *, struct cplayout_error *) : 1,
                        default : 0),
               "core.prepare_layer");
enum { locked_core_prepare_layer };

_Static_assert(_Generic(((struct cplayout_core *)0)->finalize_layer,
                        int32_t (*)(struct cplayout_context *, const struct cplayout_call *,
                                    struct cplayout_tensor *, struct cplayout_error *) : 1,
                        default : 0),
               "core.finalize_layer");
enum { locked_core_finalize_layer };

_Static_assert(_Generic(((struct cplayout_core *)0)->convert,
                        int32_t (*)(struct cplayout_context *, const struct cplayout_convert_call *,
                                    struct cplayout_tensor *, struct cplayout_error *) : 1,
                        default : 0),
               "core.convert");
enum { locked_core_convert };

_Static_assert(_Generic(((struct cplayout_core *)0)->convert_describe,
                        int32_t (*)(struct cplayout_context *, const struct cplayout_convert_call *,
                                    struct cplayout_conversion *, struct cplayout_error *) : 1,
                        default : 0),
               "core.convert_describe");
enum { locked_core_convert_describe };

/* ---- batch/1 --------------------------------------------------------------------------------- */

_Static_assert(_Generic(((struct cplayout_batch_interface *)0)->view_describe,
                        int32_t (*)(const struct cplayout_batch *, int32_t, const char *,
                                    struct cplayout_view *, struct cplayout_error *) : 1,
                        default : 0),
               "batch.view_describe");
enum { locked_batch_view_describe };

_Static_assert(_Generic(((struct cplayout_batch_interface *)0)->view_fill,
                        int32_t (*)(const struct cplayout_batch *, int32_t, const char *,
                                    const struct cplayout_tensor *, struct cplayout_error *) : 1,
                        default : 0),
               "batch.view_fill");
enum { locked_batch_view_fill };

_Static_assert(_Generic(((struct cplayout_batch_interface *)0)->view_partition,
                        int32_t (*)(const struct cplayout_batch *, int32_t,
                                    const struct cplayout_partition **,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "batch.view_partition");
enum { locked_batch_view_partition };

_Static_assert(_Generic(((struct cplayout_batch_interface *)0)->view_metadata,
                        int32_t (*)(const struct cplayout_batch *, int32_t,
                                    struct cplayout_view_metadata *, struct cplayout_error *) : 1,
                        default : 0),
               "batch.view_metadata");
enum { locked_batch_view_metadata };

_Static_assert(_Generic(((struct cplayout_batch_interface *)0)->view_chunks,
                        int32_t (*)(const struct cplayout_batch *, int32_t, const char *,
                                    struct cplayout_view *, struct cplayout_error *) : 1,
                        default : 0),
               "batch.view_chunks");
enum { locked_batch_view_chunks };

_Static_assert(_Generic(((struct cplayout_batch_interface *)0)->view_shift,
                        int32_t (*)(const struct cplayout_batch *,
                                    const struct cplayout_view_shift *,
                                    const struct cplayout_tensor *, struct cplayout_error *) : 1,
                        default : 0),
               "batch.view_shift");
enum { locked_batch_view_shift };

_Static_assert(_Generic(((struct cplayout_batch_interface *)0)->loss_sum,
                        int32_t (*)(const struct cplayout_loss_sum_args *, struct cplayout_loss *,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "batch.loss_sum");
enum { locked_batch_loss_sum };

_Static_assert(_Generic(((struct cplayout_batch_interface *)0)->loss_mean,
                        int32_t (*)(struct cplayout_context *,
                                    const struct cplayout_loss_mean_args *,
                                    struct cplayout_loss_mean *, struct cplayout_error *) : 1,
                        default : 0),
               "batch.loss_mean");
enum { locked_batch_loss_mean };

/* ---- plan/1 ---------------------------------------------------------------------------------- */

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->partition_create,
                        int32_t (*)(const struct cplayout_host *,
                                    const struct cplayout_partition_args *,
                                    struct cplayout_partition **, struct cplayout_error *) : 1,
                        default : 0),
               "plan.partition_create");
enum { locked_plan_partition_create };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->partition_destroy,
                        void (*)(struct cplayout_partition *) : 1, default : 0),
               "plan.partition_destroy");
enum { locked_plan_partition_destroy };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->partition_describe,
                        void (*)(const struct cplayout_partition *,
                                 struct cplayout_partition_info *) : 1,
                        default : 0),
               "plan.partition_describe");
enum { locked_plan_partition_describe };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->padded_offsets,
                        int32_t (*)(const struct cplayout_partition *, int64_t *, uint64_t,
                                    uint64_t *, struct cplayout_error *) : 1,
                        default : 0),
               "plan.padded_offsets");
enum { locked_plan_padded_offsets };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->rank_describe,
                        int32_t (*)(const struct cplayout_partition *, int32_t,
                                    struct cplayout_rank_info *, struct cplayout_error *) : 1,
                        default : 0),
               "plan.rank_describe");
enum { locked_plan_rank_describe };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->fragments,
                        int32_t (*)(const struct cplayout_partition *, int32_t,
                                    struct cplayout_fragment *, uint64_t, uint64_t *,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "plan.fragments");
enum { locked_plan_fragments };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->positions,
                        int32_t (*)(const struct cplayout_partition *,
                                    const struct cplayout_positions_args *, int64_t *, uint64_t,
                                    uint64_t *, struct cplayout_error *) : 1,
                        default : 0),
               "plan.positions");
enum { locked_plan_positions };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->chain,
                        int32_t (*)(const struct cplayout_partition *, struct cplayout_chain_part *,
                                    uint64_t, uint64_t *, struct cplayout_error *) : 1,
                        default : 0),
               "plan.chain");
enum { locked_plan_chain };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->table_create,
                        int32_t (*)(const struct cplayout_host *, const struct cplayout_partition *,
                                    const struct cplayout_table_args *,
                                    struct cplayout_partition **, struct cplayout_error *) : 1,
                        default : 0),
               "plan.table_create");
enum { locked_plan_table_create };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->route_create,
                        int32_t (*)(const struct cplayout_host *, const struct cplayout_partition *,
                                    const struct cplayout_partition *, struct cplayout_route **,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "plan.route_create");
enum { locked_plan_route_create };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->route_destroy,
                        void (*)(struct cplayout_route *) : 1, default : 0),
               "plan.route_destroy");
enum { locked_plan_route_destroy };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->route_describe,
                        void (*)(const struct cplayout_route *, struct cplayout_route_info *) : 1,
                        default : 0),
               "plan.route_describe");
enum { locked_plan_route_describe };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->moves,
                        int32_t (*)(const struct cplayout_route *,
                                    const struct cplayout_moves_args *, struct cplayout_move *,
                                    uint64_t, uint64_t *, struct cplayout_error *) : 1,
                        default : 0),
               "plan.moves");
enum { locked_plan_moves };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->fragment_tokens,
                        int32_t (*)(const struct cplayout_partition *, int32_t, int64_t *, uint64_t,
                                    uint64_t *, struct cplayout_error *) : 1,
                        default : 0),
               "plan.fragment_tokens");
enum { locked_plan_fragment_tokens };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->local_documents,
                        int32_t (*)(const struct cplayout_partition *, int32_t,
                                    struct cplayout_local_document *, uint64_t, uint64_t *,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "plan.local_documents");
enum { locked_plan_local_documents };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->local_offsets,
                        int32_t (*)(const struct cplayout_partition *,
                                    const struct cplayout_offsets_args *, int64_t *, uint64_t,
                                    uint64_t *, struct cplayout_error *) : 1,
                        default : 0),
               "plan.local_offsets");
enum { locked_plan_local_offsets };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->padding_mask,
                        int32_t (*)(const struct cplayout_partition *, int32_t, uint8_t *, uint64_t,
                                    uint64_t *, struct cplayout_error *) : 1,
                        default : 0),
               "plan.padding_mask");
enum { locked_plan_padding_mask };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->inverse,
                        int32_t (*)(const struct cplayout_partition *, struct cplayout_run *,
                                    uint64_t, uint64_t *, struct cplayout_error *) : 1,
                        default : 0),
               "plan.inverse");
enum { locked_plan_inverse };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->key_extents,
                        int32_t (*)(const struct cplayout_partition *, int32_t,
                                    struct cplayout_key_extent *, uint64_t, uint64_t *,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "plan.key_extents");
enum { locked_plan_key_extents };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->attention,
                        int32_t (*)(const struct cplayout_partition *, struct cplayout_attention *,
                                    uint64_t, uint64_t *, struct cplayout_error *) : 1,
                        default : 0),
               "plan.attention");
enum { locked_plan_attention };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->halo_create,
                        int32_t (*)(const struct cplayout_host *, const struct cplayout_partition *,
                                    int64_t, struct cplayout_partition **,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "plan.halo_create");
enum { locked_plan_halo_create };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->shift_create,
                        int32_t (*)(const struct cplayout_host *, const struct cplayout_partition *,
                                    int64_t, struct cplayout_partition **,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "plan.shift_create");
enum { locked_plan_shift_create };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->move_columns,
                        int32_t (*)(const struct cplayout_route *,
                                    const struct cplayout_columns_args *, struct cplayout_columns *,
                                    uint64_t, uint64_t *, struct cplayout_error *) : 1,
                        default : 0),
               "plan.move_columns");
enum { locked_plan_move_columns };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->cost,
                        int32_t (*)(const struct cplayout_partition *, struct cplayout_cost *,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "plan.cost");
enum { locked_plan_cost };

_Static_assert(_Generic(((struct cplayout_plan_interface *)0)->break_even,
                        int32_t (*)(const struct cplayout_break_even_args *, double *,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "plan.break_even");
enum { locked_plan_break_even };

/* ---- Callbacks and the exported function ----------------------------------------------------- */

_Static_assert(_Generic(((struct cplayout_host *)0)->log,
                        void (*)(void *, int32_t, const char *) : 1, default : 0),
               "host.log");

_Static_assert(_Generic(((struct cplayout_host *)0)->allocate, void *(*)(void *, uint64_t) : 1,
                        default : 0),
               "host.allocate");

_Static_assert(_Generic(((struct cplayout_host *)0)->release,
                        void (*)(void *, void *, uint64_t) : 1, default : 0),
               "host.release");

_Static_assert(_Generic(((struct cplayout_communicator *)0)->start,
                        int32_t (*)(void *, const struct cplayout_messages *, void **,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "communicator.start");

_Static_assert(_Generic(((struct cplayout_communicator *)0)->wait,
                        int32_t (*)(void *, void *, double, int32_t *, struct cplayout_error *) : 1,
                        default : 0),
               "communicator.wait");

_Static_assert(_Generic(((struct cplayout_communicator *)0)->abort,
                        void (*)(void *, int32_t, const char *) : 1, default : 0),
               "communicator.abort");

_Static_assert(_Generic(((struct cplayout_communicator *)0)->allgather,
                        int32_t (*)(void *, const struct cplayout_allgather *, int32_t *,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "communicator.allgather");

_Static_assert(_Generic(((struct cplayout_create_args *)0)->diagnose,
                        void (*)(void *, const struct cplayout_diagnostic *) : 1, default : 0),
               "create_args.diagnose");

_Static_assert(_Generic(((struct cplayout_loss_mean_args *)0)->reduce,
                        int32_t (*)(void *, double *, uint64_t) : 1, default : 0),
               "loss_mean_args.reduce");

_Static_assert(_Generic((cplayout_plugin_query_fn)0,
                        int32_t (*)(const struct cplayout_host *, const struct cplayout_core **,
                                    struct cplayout_error *) : 1,
                        default : 0),
               "plugin_query");
