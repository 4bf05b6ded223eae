/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the memory layout of the ABI, one fact a line: every struct with its size, every member
 * with its offset, every constant with its value. layout.sh compares it with the frozen output.
 *
 *     struct NAME grows|fixed size BYTES align BYTES
 *     member STRUCT.NAME offset BYTES size BYTES
 *     constant NAME VALUE
 *     text NAME VALUE
 *
 * A struct that grows begins with its own size; new members are only ever appended to it. The
 * others stand in arrays or inside other structs, and keep their size for ever.
 */
#include <cplayout/batch.h>
#include <cplayout/communicator.h>
#include <cplayout/core.h>
#include <cplayout/host.h>
#include <cplayout/lengths.h>
#include <cplayout/loader.h>
#include <cplayout/options.h>
#include <cplayout/plan.h>
#include <cplayout/status.h>
#include <cplayout/tensor.h>
#include <cplayout/version.h>

static void print_struct(const char *name, const char *kind, size_t size, size_t align)
{
    printf("struct %s %s size %zu align %zu\n", name, kind, size, align);
}

static void print_member(const char *name, size_t offset, size_t size)
{
    printf("member %s offset %zu size %zu\n", name, offset, size);
}

static void print_constant(const char *name, long long value)
{
    printf("constant %s %lld\n", name, value);
}

static void print_text(const char *name, const char *value)
{
    printf("text %s %s\n", name, value);
}

#define GROWS(type)                                                           \
    _Static_assert(offsetof(struct type, size) == 0, "begins with its size"); \
    print_struct(#type, "grows", sizeof(struct type), _Alignof(struct type))
#define FIXED(type) print_struct(#type, "fixed", sizeof(struct type), _Alignof(struct type))
#define MEMBER(type, name) \
    print_member(#type "." #name, offsetof(struct type, name), sizeof(((struct type *)NULL)->name))

#define CORE_SLOT(table, slot)  MEMBER(cplayout_core, slot);
#define BATCH_SLOT(table, slot) MEMBER(cplayout_batch_interface, slot);
#define PLAN_SLOT(table, slot)  MEMBER(cplayout_plan_interface, slot);

#define CONSTANT(name) print_constant(#name, name)
#define TEXT(name)     print_text(#name, name)

static void print_tensor_structs(void)
{
    FIXED(cplayout_device);
    MEMBER(cplayout_device, device_type);
    MEMBER(cplayout_device, device_id);

    FIXED(cplayout_type);
    MEMBER(cplayout_type, code);
    MEMBER(cplayout_type, bits);
    MEMBER(cplayout_type, lanes);

    FIXED(cplayout_tensor);
    MEMBER(cplayout_tensor, data);
    MEMBER(cplayout_tensor, device);
    MEMBER(cplayout_tensor, ndim);
    MEMBER(cplayout_tensor, dtype);
    MEMBER(cplayout_tensor, shape);
    MEMBER(cplayout_tensor, strides);
    MEMBER(cplayout_tensor, byte_offset);
}

static void print_status_structs(void)
{
    GROWS(cplayout_error);
    MEMBER(cplayout_error, size);
    MEMBER(cplayout_error, status);
    MEMBER(cplayout_error, origin);
    MEMBER(cplayout_error, native_code);
    MEMBER(cplayout_error, field);
    MEMBER(cplayout_error, message);
}

static void print_options_structs(void)
{
    FIXED(cplayout_option);
    MEMBER(cplayout_option, name);
    MEMBER(cplayout_option, value);

    GROWS(cplayout_option_info);
    MEMBER(cplayout_option_info, size);
    MEMBER(cplayout_option_info, name);
    MEMBER(cplayout_option_info, type);
    MEMBER(cplayout_option_info, default_value);
    MEMBER(cplayout_option_info, values);
    MEMBER(cplayout_option_info, help);
    MEMBER(cplayout_option_info, synonyms);
    MEMBER(cplayout_option_info, deprecated);

    GROWS(cplayout_diagnostic);
    MEMBER(cplayout_diagnostic, size);
    MEMBER(cplayout_diagnostic, severity);
    MEMBER(cplayout_diagnostic, reserved);
    MEMBER(cplayout_diagnostic, code);
    MEMBER(cplayout_diagnostic, option);
    MEMBER(cplayout_diagnostic, message);
    MEMBER(cplayout_diagnostic, hint);
    MEMBER(cplayout_diagnostic, value);
    MEMBER(cplayout_diagnostic, origin);
    MEMBER(cplayout_diagnostic, part_offset);
    MEMBER(cplayout_diagnostic, part_length);
}

static void print_host_structs(void)
{
    GROWS(cplayout_host);
    MEMBER(cplayout_host, size);
    MEMBER(cplayout_host, abi_minor);
    MEMBER(cplayout_host, draft);
    MEMBER(cplayout_host, name);
    MEMBER(cplayout_host, log);
    MEMBER(cplayout_host, log_self);
    MEMBER(cplayout_host, log_level);
    MEMBER(cplayout_host, rank);
    MEMBER(cplayout_host, ranks);
    MEMBER(cplayout_host, reserved);
    MEMBER(cplayout_host, allocate);
    MEMBER(cplayout_host, release);
    MEMBER(cplayout_host, allocator_self);
    MEMBER(cplayout_host, local_group);
    MEMBER(cplayout_host, communicator);
    MEMBER(cplayout_host, communicator_ranks);
    MEMBER(cplayout_host, next);
}

static void print_communicator_structs(void)
{
    FIXED(cplayout_message);
    MEMBER(cplayout_message, data);
    MEMBER(cplayout_message, bytes);
    MEMBER(cplayout_message, peer);
    MEMBER(cplayout_message, direction);

    GROWS(cplayout_messages);
    MEMBER(cplayout_messages, size);
    MEMBER(cplayout_messages, list);
    MEMBER(cplayout_messages, count);
    MEMBER(cplayout_messages, tag);
    MEMBER(cplayout_messages, stream);

    GROWS(cplayout_allgather);
    MEMBER(cplayout_allgather, size);
    MEMBER(cplayout_allgather, mine);
    MEMBER(cplayout_allgather, all);
    MEMBER(cplayout_allgather, bytes);
    MEMBER(cplayout_allgather, timeout_seconds);

    GROWS(cplayout_communicator);
    MEMBER(cplayout_communicator, size);
    MEMBER(cplayout_communicator, self);
    MEMBER(cplayout_communicator, start);
    MEMBER(cplayout_communicator, wait);
    MEMBER(cplayout_communicator, abort);
    MEMBER(cplayout_communicator, allgather);
}

static void print_registration_structs(void)
{
    GROWS(cplayout_create_args);
    MEMBER(cplayout_create_args, size);
    MEMBER(cplayout_create_args, host);
    MEMBER(cplayout_create_args, options);
    MEMBER(cplayout_create_args, option_count);
    MEMBER(cplayout_create_args, diagnose);
    MEMBER(cplayout_create_args, diagnose_self);
    MEMBER(cplayout_create_args, fields);
    MEMBER(cplayout_create_args, field_count);

    FIXED(cplayout_field_declaration);
    MEMBER(cplayout_field_declaration, name);
    MEMBER(cplayout_field_declaration, fill);
    MEMBER(cplayout_field_declaration, row_axis);
    MEMBER(cplayout_field_declaration, flags);
}

static void print_schedule_structs(void)
{
    GROWS(cplayout_schedule_args);
    MEMBER(cplayout_schedule_args, size);
    MEMBER(cplayout_schedule_args, chunk);
    MEMBER(cplayout_schedule_args, reserved);

    GROWS(cplayout_schedule_info);
    MEMBER(cplayout_schedule_info, size);
    MEMBER(cplayout_schedule_info, layers);
    MEMBER(cplayout_schedule_info, input_layout);
    MEMBER(cplayout_schedule_info, output_layout);
    MEMBER(cplayout_schedule_info, reserved);

    GROWS(cplayout_layer_info);
    MEMBER(cplayout_layer_info, size);
    MEMBER(cplayout_layer_info, layout);
    MEMBER(cplayout_layer_info, symbol);
    MEMBER(cplayout_layer_info, reserved);
}

static void print_batch_structs(void)
{
    FIXED(cplayout_field);
    MEMBER(cplayout_field, name);
    MEMBER(cplayout_field, tensor);

    GROWS(cplayout_batch_args);
    MEMBER(cplayout_batch_args, size);
    MEMBER(cplayout_batch_args, sequence_length);
    MEMBER(cplayout_batch_args, fields);
    MEMBER(cplayout_batch_args, field_count);
    MEMBER(cplayout_batch_args, samples);
    MEMBER(cplayout_batch_args, sample_count);

    GROWS(cplayout_call);
    MEMBER(cplayout_call, size);
    MEMBER(cplayout_call, batch);
    MEMBER(cplayout_call, schedule);
    MEMBER(cplayout_call, layer);
    MEMBER(cplayout_call, direction);
    MEMBER(cplayout_call, input);
    MEMBER(cplayout_call, identity);
    MEMBER(cplayout_call, row_axis);
    MEMBER(cplayout_call, reserved);
    MEMBER(cplayout_call, stream);

    GROWS(cplayout_conversion);
    MEMBER(cplayout_conversion, size);
    MEMBER(cplayout_conversion, due);
    MEMBER(cplayout_conversion, reserved);
    MEMBER(cplayout_conversion, from_layout);
    MEMBER(cplayout_conversion, to_layout);
    MEMBER(cplayout_conversion, input_rows);
    MEMBER(cplayout_conversion, output_rows);
    MEMBER(cplayout_conversion, sent_rows);
    MEMBER(cplayout_conversion, received_rows);
    MEMBER(cplayout_conversion, input_identity);
    MEMBER(cplayout_conversion, output_identity);

    GROWS(cplayout_convert_call);
    MEMBER(cplayout_convert_call, size);
    MEMBER(cplayout_convert_call, batch);
    MEMBER(cplayout_convert_call, input);
    MEMBER(cplayout_convert_call, identity);
    MEMBER(cplayout_convert_call, stream);
    MEMBER(cplayout_convert_call, from_layout);
    MEMBER(cplayout_convert_call, to_layout);
    MEMBER(cplayout_convert_call, row_axis);
    MEMBER(cplayout_convert_call, reserved);
}

static void print_core_structs(void)
{
    GROWS(cplayout_core);
    MEMBER(cplayout_core, size);
    MEMBER(cplayout_core, abi_major);
    MEMBER(cplayout_core, abi_minor);
    MEMBER(cplayout_core, abi_minor_min);
    MEMBER(cplayout_core, draft);
    MEMBER(cplayout_core, features);
    MEMBER(cplayout_core, name);
    MEMBER(cplayout_core, version);
    MEMBER(cplayout_core, build);
    CPLAYOUT_CORE_SLOTS(CORE_SLOT)
}

static void print_batch_interface_structs(void)
{
    GROWS(cplayout_view);
    MEMBER(cplayout_view, size);
    MEMBER(cplayout_view, tensor);
    MEMBER(cplayout_view, shape);
    MEMBER(cplayout_view, strides);
    MEMBER(cplayout_view, identity);
    MEMBER(cplayout_view, row_axis);
    MEMBER(cplayout_view, reserved);

    GROWS(cplayout_view_metadata);
    MEMBER(cplayout_view_metadata, size);
    MEMBER(cplayout_view_metadata, identity);
    MEMBER(cplayout_view_metadata, cu_seqlens);
    MEMBER(cplayout_view_metadata, cu_seqlens_padded);
    MEMBER(cplayout_view_metadata, entries);
    MEMBER(cplayout_view_metadata, tokens);
    MEMBER(cplayout_view_metadata, rows);
    MEMBER(cplayout_view_metadata, local_rows);
    MEMBER(cplayout_view_metadata, max_seqlen);
    MEMBER(cplayout_view_metadata, max_seqlen_padded);
    MEMBER(cplayout_view_metadata, cu_seqlens_q);
    MEMBER(cplayout_view_metadata, cp_rows);
    MEMBER(cplayout_view_metadata, padding_between);
    MEMBER(cplayout_view_metadata, layout);

    GROWS(cplayout_view_shift);
    MEMBER(cplayout_view_shift, size);
    MEMBER(cplayout_view_shift, field);
    MEMBER(cplayout_view_shift, by);
    MEMBER(cplayout_view_shift, fill);
    MEMBER(cplayout_view_shift, layout);
    MEMBER(cplayout_view_shift, reserved);
}

static void print_loss_structs(void)
{
    FIXED(cplayout_loss);
    MEMBER(cplayout_loss, sum);
    MEMBER(cplayout_loss, count);

    GROWS(cplayout_loss_sum_args);
    MEMBER(cplayout_loss_sum_args, size);
    MEMBER(cplayout_loss_sum_args, values);
    MEMBER(cplayout_loss_sum_args, mask);

    GROWS(cplayout_loss_mean_args);
    MEMBER(cplayout_loss_mean_args, size);
    MEMBER(cplayout_loss_mean_args, local);
    MEMBER(cplayout_loss_mean_args, terms);
    MEMBER(cplayout_loss_mean_args, reduce);
    MEMBER(cplayout_loss_mean_args, reduce_self);
    MEMBER(cplayout_loss_mean_args, averaging_ranks);
    MEMBER(cplayout_loss_mean_args, reserved);

    FIXED(cplayout_loss_mean);
    MEMBER(cplayout_loss_mean, mean);
    MEMBER(cplayout_loss_mean, factor);
    MEMBER(cplayout_loss_mean, sum);
    MEMBER(cplayout_loss_mean, count);

    GROWS(cplayout_batch_interface);
    MEMBER(cplayout_batch_interface, size);
    CPLAYOUT_BATCH_SLOTS(BATCH_SLOT)
}

static void print_partition_structs(void)
{
    GROWS(cplayout_partition_args);
    MEMBER(cplayout_partition_args, size);
    MEMBER(cplayout_partition_args, layout);
    MEMBER(cplayout_partition_args, sequence);
    MEMBER(cplayout_partition_args, cp);
    MEMBER(cplayout_partition_args, tp);
    MEMBER(cplayout_partition_args, samples);
    MEMBER(cplayout_partition_args, sample_count);
    MEMBER(cplayout_partition_args, table);
    MEMBER(cplayout_partition_args, row_unit);

    FIXED(cplayout_lengths);
    MEMBER(cplayout_lengths, cu_seqlens);
    MEMBER(cplayout_lengths, cu_seqlens_padded);
    MEMBER(cplayout_lengths, entries);

    GROWS(cplayout_partition_info);
    MEMBER(cplayout_partition_info, size);
    MEMBER(cplayout_partition_info, identity);
    MEMBER(cplayout_partition_info, tokens);
    MEMBER(cplayout_partition_info, stream_rows);
    MEMBER(cplayout_partition_info, documents);
    MEMBER(cplayout_partition_info, rows);
    MEMBER(cplayout_partition_info, cp);
    MEMBER(cplayout_partition_info, tp);

    GROWS(cplayout_rank_info);
    MEMBER(cplayout_rank_info, size);
    MEMBER(cplayout_rank_info, rows);
    MEMBER(cplayout_rank_info, valid_rows);
    MEMBER(cplayout_rank_info, attention_pairs);

    FIXED(cplayout_fragment);
    MEMBER(cplayout_fragment, start);
    MEMBER(cplayout_fragment, length);

    GROWS(cplayout_positions_args);
    MEMBER(cplayout_positions_args, size);
    MEMBER(cplayout_positions_args, rank);
    MEMBER(cplayout_positions_args, kind);

    GROWS(cplayout_table_args);
    MEMBER(cplayout_table_args, size);
    MEMBER(cplayout_table_args, fragments);
    MEMBER(cplayout_table_args, counts);

    FIXED(cplayout_chain_part);
    MEMBER(cplayout_chain_part, start);
    MEMBER(cplayout_chain_part, length);
    MEMBER(cplayout_chain_part, local);
    MEMBER(cplayout_chain_part, position);
    MEMBER(cplayout_chain_part, valid);
    MEMBER(cplayout_chain_part, document);
    MEMBER(cplayout_chain_part, rank);
    MEMBER(cplayout_chain_part, reserved);
}

static void print_local_structs(void)
{
    FIXED(cplayout_local_document);
    MEMBER(cplayout_local_document, document);
    MEMBER(cplayout_local_document, local);
    MEMBER(cplayout_local_document, rows);
    MEMBER(cplayout_local_document, tokens);

    GROWS(cplayout_offsets_args);
    MEMBER(cplayout_offsets_args, size);
    MEMBER(cplayout_offsets_args, rank);
    MEMBER(cplayout_offsets_args, kind);

    FIXED(cplayout_run);
    MEMBER(cplayout_run, start);
    MEMBER(cplayout_run, at);
    MEMBER(cplayout_run, rows);

    FIXED(cplayout_key_extent);
    MEMBER(cplayout_key_extent, local);
    MEMBER(cplayout_key_extent, queries);
    MEMBER(cplayout_key_extent, first_key);
    MEMBER(cplayout_key_extent, position);

    FIXED(cplayout_attention);
    MEMBER(cplayout_attention, pairs);
    MEMBER(cplayout_attention, key_rows);
}

static void print_cost_structs(void)
{
    FIXED(cplayout_columns);
    MEMBER(cplayout_columns, first);
    MEMBER(cplayout_columns, count);

    GROWS(cplayout_columns_args);
    MEMBER(cplayout_columns_args, size);
    MEMBER(cplayout_columns_args, rank);
    MEMBER(cplayout_columns_args, kind);
    MEMBER(cplayout_columns_args, source);
    MEMBER(cplayout_columns_args, target);

    GROWS(cplayout_cost);
    MEMBER(cplayout_cost, size);
    MEMBER(cplayout_cost, max_over_mean);
    MEMBER(cplayout_cost, padding_rows);
    MEMBER(cplayout_cost, key_rows);

    GROWS(cplayout_break_even_args);
    MEMBER(cplayout_break_even_args, size);
    MEMBER(cplayout_break_even_args, cp);
    MEMBER(cplayout_break_even_args, linear_layers);
    MEMBER(cplayout_break_even_args, conversions);
    MEMBER(cplayout_break_even_args, reserved);
    MEMBER(cplayout_break_even_args, state_bytes);
    MEMBER(cplayout_break_even_args, row_bytes);
    MEMBER(cplayout_break_even_args, share);
}

static void print_route_structs(void)
{
    GROWS(cplayout_route_info);
    MEMBER(cplayout_route_info, size);
    MEMBER(cplayout_route_info, total_rows);
    MEMBER(cplayout_route_info, moved_rows);
    MEMBER(cplayout_route_info, worst_rank_rows);
    MEMBER(cplayout_route_info, peers);
    MEMBER(cplayout_route_info, reserved);

    GROWS(cplayout_moves_args);
    MEMBER(cplayout_moves_args, size);
    MEMBER(cplayout_moves_args, rank);
    MEMBER(cplayout_moves_args, kind);

    FIXED(cplayout_move);
    MEMBER(cplayout_move, src);
    MEMBER(cplayout_move, dst);
    MEMBER(cplayout_move, rows);
    MEMBER(cplayout_move, peer);
    MEMBER(cplayout_move, reserved);
}

static void print_plan_interface_structs(void)
{
    GROWS(cplayout_plan_interface);
    MEMBER(cplayout_plan_interface, size);
    CPLAYOUT_PLAN_SLOTS(PLAN_SLOT)
}

static void print_loader_structs(void)
{
    FIXED(cplayout_library);
    MEMBER(cplayout_library, handle);
    MEMBER(cplayout_library, core);
}

static void print_version_constants(void)
{
    CONSTANT(CPLAYOUT_ABI_MAJOR);
    CONSTANT(CPLAYOUT_ABI_MINOR);
    CONSTANT(CPLAYOUT_ABI_DRAFT);
}

static void print_status_constants(void)
{
    CONSTANT(CPLAYOUT_OK);
    CONSTANT(CPLAYOUT_ERROR_ARGUMENT);
    CONSTANT(CPLAYOUT_ERROR_CONFIGURATION);
    CONSTANT(CPLAYOUT_ERROR_UNSUPPORTED);
    CONSTANT(CPLAYOUT_ERROR_MEMORY);
    CONSTANT(CPLAYOUT_ERROR_CAPACITY);
    CONSTANT(CPLAYOUT_ERROR_TIMEOUT);
    CONSTANT(CPLAYOUT_ERROR_PEER);
    CONSTANT(CPLAYOUT_ERROR_MISMATCH);
    CONSTANT(CPLAYOUT_ERROR_VERSION);
    CONSTANT(CPLAYOUT_ERROR_LOAD);
    CONSTANT(CPLAYOUT_ERROR_FORKED);
    CONSTANT(CPLAYOUT_ORIGIN_NONE);
    CONSTANT(CPLAYOUT_ORIGIN_PLUGIN);
    CONSTANT(CPLAYOUT_ORIGIN_LOADER);
    CONSTANT(CPLAYOUT_FIELD_BYTES);
    CONSTANT(CPLAYOUT_MESSAGE_BYTES);
}

static void print_tensor_constants(void)
{
    CONSTANT(CPLAYOUT_DEVICE_CPU);
    CONSTANT(CPLAYOUT_TYPE_INT);
    CONSTANT(CPLAYOUT_TYPE_UINT);
    CONSTANT(CPLAYOUT_TYPE_FLOAT);
    CONSTANT(CPLAYOUT_TYPE_BFLOAT);
    CONSTANT(CPLAYOUT_TYPE_BOOL);
    CONSTANT(CPLAYOUT_MAX_DIMS);
}

static void print_host_constants(void)
{
    CONSTANT(CPLAYOUT_SEVERITY_WARNING);
    CONSTANT(CPLAYOUT_SEVERITY_ERROR);
    CONSTANT(CPLAYOUT_LOG_NONE);
    CONSTANT(CPLAYOUT_LOG_ERROR);
    CONSTANT(CPLAYOUT_LOG_WARNING);
    CONSTANT(CPLAYOUT_LOG_INFO);
    CONSTANT(CPLAYOUT_LOG_TRACE);
}

static void print_call_constants(void)
{
    CONSTANT(CPLAYOUT_FORWARD);
    CONSTANT(CPLAYOUT_BACKWARD);
    CONSTANT(CPLAYOUT_MESSAGE_SEND);
    CONSTANT(CPLAYOUT_MESSAGE_RECEIVE);
    CONSTANT(CPLAYOUT_HOOK_PREPARE);
    CONSTANT(CPLAYOUT_HOOK_FINALIZE);
    CONSTANT(CPLAYOUT_MOVES_KEPT);
    CONSTANT(CPLAYOUT_MOVES_SENT);
    CONSTANT(CPLAYOUT_MOVES_RECEIVED);
    CONSTANT(CPLAYOUT_MOVES_PADS);
    CONSTANT(CPLAYOUT_OFFSETS_LOGICAL);
    CONSTANT(CPLAYOUT_OFFSETS_PHYSICAL);
    CONSTANT(CPLAYOUT_POSITIONS_GLOBAL);
    CONSTANT(CPLAYOUT_POSITIONS_DOCUMENT);
    CONSTANT(CPLAYOUT_FIELD_SCATTER);
    CONSTANT(CPLAYOUT_LOSS_TERMS_MOST);
    CONSTANT(CPLAYOUT_RANK_OUTSIDE);
}

static void print_texts(void)
{
    TEXT(CPLAYOUT_QUERY_SYMBOL);
    TEXT(CPLAYOUT_PLAN_INTERFACE);
    TEXT(CPLAYOUT_BATCH_INTERFACE);
    TEXT(CPLAYOUT_DEFAULT_PLUGIN);
}

int main(void)
{
    print_tensor_structs();
    print_status_structs();
    print_options_structs();
    print_host_structs();
    print_communicator_structs();
    print_registration_structs();
    print_schedule_structs();
    print_batch_structs();
    print_core_structs();
    print_batch_interface_structs();
    print_loss_structs();
    print_partition_structs();
    print_local_structs();
    print_route_structs();
    print_cost_structs();
    print_plan_interface_structs();
    print_loader_structs();
    print_version_constants();
    print_status_constants();
    print_tensor_constants();
    print_host_constants();
    print_call_constants();
    print_texts();
    return 0;
}
